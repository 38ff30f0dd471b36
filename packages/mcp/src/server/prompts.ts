import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server';

interface Prompt {
  readonly name: string;
  readonly description: string;
  readonly arguments: Readonly<Record<string, string>>;
  readonly required: readonly string[];
  readonly text: (values: Readonly<Record<string, string>>) => string;
}

const attempt = 'Name of the attempt. Default: the current one.';
const inAttempt = ({ attempt: name }: Readonly<Record<string, string>>): string =>
  name === undefined || name === '' ? '' : ` with attempt: ${JSON.stringify(name)}`;

const PROMPTS: readonly Prompt[] = [
  {
    name: 'review',
    description: 'Reviews what an attempt has changed, before you accept it.',
    arguments: { attempt },
    required: [],
    text: (values) =>
      `Call the tool diff${inAttempt(values)} and review every change as a careful colleague would: mistakes, what is missing, what does not belong to the task. Name file and line. Change nothing and do not call accept; end with a recommendation.`,
  },
  {
    name: 'compare-attempts',
    description: 'Compares two attempts at the same task.',
    arguments: { first: 'Name of an attempt.', second: 'Name of the other.' },
    required: ['first', 'second'],
    text: ({ first = '', second = '' }) =>
      `Compare two attempts at the same task. Call diff with attempt: ${JSON.stringify(first)}, diff with attempt: ${JSON.stringify(second)}, and attempts with attempt: ${JSON.stringify(first)} and compare_with: ${JSON.stringify(second)}. Say how they differ, which is better and why, and what of the other is worth keeping. Change nothing.`,
  },
  {
    name: 'what-happened',
    description: 'Tells what was done in an attempt, step by step.',
    arguments: { attempt },
    required: [],
    text: (values) =>
      `Call the tool log${inAttempt(values)}, and go on until its end. Tell in a few sentences what was done and in which order, what was undone, and where it stands now. Give the numbers of operations worth going back to. Change nothing.`,
  },
];

/** Offers the prompts. */
export function registerPrompts(server: McpServer): void {
  for (const { name, description, arguments: args, required, text } of PROMPTS) {
    const properties = Object.fromEntries(
      Object.entries(args).map(([key, meaning]) => [key, { type: 'string', description: meaning }]),
    );
    const argsSchema = fromJsonSchema<Record<string, string>>({
      type: 'object',
      properties,
      required: [...required],
    } as never);
    server.registerPrompt(name, { description, argsSchema }, (values) => ({
      messages: [{ role: 'user', content: { type: 'text', text: text(values) } }],
    }));
  }
}
