import { fromJsonSchema, type jsonSchemaValidator, type McpServer } from '@modelcontextprotocol/server';

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

/**
 * Returns a validator for the arguments of a prompt. The SDK's own validator compiles the schema to a function, in
 * revisions without a handshake for each request, which took 2 ms of CPU time.
 */
function validatorOf({ arguments: args, required }: Prompt): jsonSchemaValidator {
  return {
    getValidator: () => (data) => {
      const values = Object(data) as Readonly<Record<string, unknown>>;
      const isText = (key: string): boolean => Object.hasOwn(values, key) && typeof values[key] === 'string';
      const wrong = Object.keys(args).find(
        (key) => !isText(key) && (required.includes(key) || Object.hasOwn(values, key)),
      );
      if (wrong === undefined) return { valid: true, data: data as never, errorMessage: undefined };
      return { valid: false, data: undefined, errorMessage: `${wrong} must be a text: ${args[wrong]}` };
    },
  };
}

export function registerPrompts(server: McpServer): void {
  for (const prompt of PROMPTS) {
    const { name, description, arguments: args, required, text } = prompt;
    const properties = Object.fromEntries(
      Object.entries(args).map(([key, meaning]) => [key, { type: 'string', description: meaning }]),
    );
    const schema = { type: 'object', properties, required: [...required] };
    const argsSchema = fromJsonSchema<Record<string, string>>(schema as never, validatorOf(prompt));
    server.registerPrompt(name, { description, argsSchema }, (values) => ({
      messages: [{ role: 'user', content: { type: 'text', text: text(values) } }],
    }));
  }
}
