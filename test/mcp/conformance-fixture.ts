import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ContentBlock,
  createRequestStateCodec,
  fromJsonSchema,
  type GetPromptResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  McpServer,
  type McpServerFactory,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';

/** A red pixel, and a sound without samples. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const text = (value: string): ContentBlock => ({ type: 'text', text: value });
const image: ContentBlock = { type: 'image', data: PNG, mimeType: 'image/png' };
const embedded = (uri: string, mimeType: string, value: string): ContentBlock => ({
  type: 'resource',
  resource: { uri, mimeType, text: value },
});

type Properties = Readonly<Record<string, object>>;
type Outcome = CallToolResult | InputRequiredResult;

const objectOf = (properties: Properties, required = Object.keys(properties)) => ({
  type: 'object' as const,
  properties,
  required,
});
const schemaOf = (properties: Properties) => fromJsonSchema<Record<string, string>>(objectOf(properties) as never);

const form = (message: string, properties: Properties) =>
  inputRequired.elicit({ message, requestedSchema: objectOf(properties) as never });
const sampling = (prompt: string, maxTokens = 100) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
    maxTokens,
  });

const codec = createRequestStateCodec<{ readonly round: number }>({ key: randomBytes(32) });
const roundOf = (context: ServerContext): number => context.mcpReq.requestState<{ round: number }>()?.round ?? 0;

const capabilitiesOf = (
  server: McpServer,
  { mcpReq: { envelope } }: ServerContext,
): Readonly<Record<string, unknown>> =>
  ((envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] ??
    server.server.getClientCapabilities() ??
    {}) as Record<string, unknown>;

/** Asks for one thing, and tells of the reply. */
const asking =
  (key: string, what: ReturnType<typeof form>, told: (reply: ReturnType<typeof inputResponse>) => string) =>
  async (_: unknown, { mcpReq }: ServerContext): Promise<Outcome> => {
    const reply = inputResponse(mcpReq.inputResponses, key);
    if (reply.kind === 'missing') return inputRequired({ inputRequests: { [key]: what } });
    return { content: [text(told(reply))] };
  };

const contentOf = (reply: ReturnType<typeof inputResponse>): string =>
  reply.kind === 'elicit' ? `action=${reply.action}, content=${JSON.stringify(reply.content)}` : reply.kind;
const sampledOf = (reply: ReturnType<typeof inputResponse>): string =>
  reply.kind === 'sampling' ? JSON.stringify(reply.result.content) : reply.kind;
const nameOf = (reply: ReturnType<typeof inputResponse>): string =>
  reply.kind === 'elicit' ? String(reply.content?.['name']) : reply.kind;

const string = { type: 'string' };
const options = ['option1', 'option2', 'option3'];
const titled = ['First', 'Second', 'Third'].map((title, i) => ({ const: `value${i + 1}`, title }));

type Run = (input: Record<string, string>, context: ServerContext, server: McpServer) => Promise<Outcome>;

const returns =
  (...content: ContentBlock[]): Run =>
  async () => ({ content });

const log: Run = async (_, { mcpReq }) => {
  for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    await mcpReq.log('info', line);
    await setTimeout(50);
  }
  return { content: [text('Logged.')] };
};

/** Name, parameters and behaviour of each tool that the suite calls. */
const TOOLS: Readonly<Record<string, readonly [Properties, Run]>> = {
  test_simple_text: [{}, returns(text('This is a simple text response for testing.'))],
  test_image_content: [{}, returns(image)],
  test_audio_content: [{}, returns({ type: 'audio', data: WAV, mimeType: 'audio/wav' })],
  test_embedded_resource: [
    {},
    returns(embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')),
  ],
  test_multiple_content_types: [
    {},
    returns(
      text('Multiple content types test:'),
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ),
  ],
  test_tool_with_logging: [{}, log],
  test_logging_tool: [{}, log],
  test_error_handling: [
    {},
    async () => {
      throw new Error('This tool intentionally returns an error for testing');
    },
  ],
  test_tool_with_progress: [
    {},
    async (_, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined)
          await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
        await setTimeout(50);
      }
      return { content: [text('Done.')] };
    },
  ],
  test_sampling: [
    { prompt: string },
    ({ prompt = '' }, context) =>
      asking('answer', sampling(prompt), (reply) => `LLM response: ${sampledOf(reply)}`)(undefined, context),
  ],
  test_elicitation: [
    { message: string },
    ({ message = '' }, context) => {
      const what = form(message, { username: string, email: string });
      return asking('answer', what, (reply) => `User response: ${contentOf(reply)}`)(undefined, context);
    },
  ],
  test_elicitation_sep1034_defaults: [
    {},
    asking(
      'answer',
      form('Defaults', {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      }),
      (reply) => `Elicitation completed: ${contentOf(reply)}`,
    ),
  ],
  test_elicitation_sep1330_enums: [
    {},
    asking(
      'answer',
      form('Choices', {
        untitledSingle: { type: 'string', enum: options },
        titledSingle: { type: 'string', oneOf: titled },
        legacyEnum: { type: 'string', enum: ['opt1', 'opt2'], enumNames: ['Option One', 'Option Two'] },
        untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
        titledMulti: { type: 'array', items: { anyOf: titled } },
      }),
      (reply) => `Elicitation completed: ${contentOf(reply)}`,
    ),
  ],
  test_missing_capability: [{}, asking('answer', sampling('Say something'), sampledOf)],
  test_streaming_elicitation: [
    {},
    async (_, { mcpReq }) => {
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data: 'Asking' } });
      return inputRequired({ inputRequests: { answer: form('Go on?', { ok: { type: 'boolean' } }) } });
    },
  ],
  test_input_required_result_elicitation: [
    {},
    asking('user_name', form('What is your name?', { name: string }), (reply) => `Hello, ${nameOf(reply)}!`),
  ],
  test_input_required_result_sampling: [
    {},
    asking('capital_question', sampling('What is the capital of France?'), sampledOf),
  ],
  test_input_required_result_list_roots: [
    {},
    asking('client_roots', inputRequired.listRoots() as never, (reply) =>
      reply.kind === 'roots' ? JSON.stringify(reply.roots) : reply.kind,
    ),
  ],
  test_input_required_result_request_state: [{}, confirming],
  test_input_required_result_tampered_state: [{}, confirming],
  test_input_required_result_multiple_inputs: [
    {},
    async (_, context) => {
      if (roundOf(context) === 1) return { content: [text('All three came.')] };
      return inputRequired({
        inputRequests: {
          user_name: form('What is your name?', { name: string }),
          greeting: sampling('Generate a greeting', 50),
          client_roots: inputRequired.listRoots(),
        },
        requestState: await codec.mint({ round: 1 }, context),
      });
    },
  ],
  test_input_required_result_multi_round: [
    {},
    async (_, context) => {
      const round = roundOf(context);
      if (round === 2) return { content: [text('Both steps are done.')] };
      const [message, property] =
        round === 0 ? ['Step 1: What is your name?', 'name'] : ['Step 2: What is your favorite color?', 'color'];
      return inputRequired({
        inputRequests: { [`step${round + 1}`]: form(message as string, { [property as string]: string }) },
        requestState: await codec.mint({ round: round + 1 }, context),
      });
    },
  ],
  test_input_required_result_capabilities: [
    {},
    async (_, context, server) => {
      const has = capabilitiesOf(server, context);
      return inputRequired({
        inputRequests: {
          ...(has['sampling'] === undefined ? {} : { sampled: sampling('Say something') }),
          ...(has['elicitation'] === undefined ? {} : { asked: form('Say something', { name: string }) }),
        },
      });
    },
  ],
};

async function confirming(_: unknown, context: ServerContext): Promise<Outcome> {
  if (roundOf(context) === 1) return { content: [text('state-ok')] };
  return inputRequired({
    inputRequests: { confirm: form('Please confirm', { ok: { type: 'boolean' } }) },
    requestState: await codec.mint({ round: 1 }, context),
  });
}

type Prompt = (args: Record<string, string>, context: ServerContext) => GetPromptResult | InputRequiredResult;

const says = (...content: ContentBlock[]): GetPromptResult => ({
  messages: content.map((each) => ({ role: 'user', content: each })),
});

const PROMPTS: Readonly<Record<string, readonly [readonly string[], Prompt]>> = {
  test_simple_prompt: [[], () => says(text('This is a simple prompt for testing.'))],
  test_prompt_with_arguments: [
    ['arg1', 'arg2'],
    ({ arg1 = '', arg2 = '' }) => says(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  ],
  test_prompt_with_embedded_resource: [
    ['resourceUri'],
    ({ resourceUri = '' }) =>
      says(
        embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
        text('Please process the embedded resource above.'),
      ),
  ],
  test_prompt_with_image: [[], () => says(image, text('Please analyze the image above.'))],
  test_input_required_result_prompt: [
    [],
    (_, { mcpReq }) => {
      const reply = inputResponse(mcpReq.inputResponses, 'user_context');
      if (reply.kind === 'elicit') return says(text(contentOf(reply)));
      const what = form('What context should the prompt use?', { context: string });
      return inputRequired({ inputRequests: { user_context: what } });
    },
  ],
};

function registerResources(server: McpServer): void {
  const fixed = {
    'test://static-text': 'text/plain',
    'test://watched-resource': 'text/plain',
    'test://static-binary': 'image/png',
  };
  for (const [uri, mimeType] of Object.entries(fixed))
    server.registerResource(uri, uri, { description: uri, mimeType }, () => ({
      contents: [
        mimeType === 'image/png'
          ? { uri, mimeType, blob: PNG }
          : { uri, mimeType, text: 'This is the content of the static text resource.' },
      ],
    }));
  const template = new ResourceTemplate('test://template/{id}/data', {
    list: undefined,
    complete: { id: (start) => ['123', '124'].filter((id) => id.startsWith(start)) },
  });
  server.registerResource(
    'template',
    template,
    { description: 'Data', mimeType: 'application/json' },
    (url, { id }) => ({
      contents: [
        {
          uri: url.href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  );
}

/**
 * A server with the tools, resources and prompts that the conformance suite demands, written after its descriptions.
 */
export const fixture: McpServerFactory = ({ requestInfo }) => {
  const server = new McpServer(
    { name: 'fixture', version: '1' },
    {
      capabilities: {
        tools: { listChanged: false },
        prompts: { listChanged: false },
        resources: { listChanged: false, subscribe: requestInfo === undefined },
        logging: {},
        completions: {},
      },
      requestState: { verify: codec.verify },
    },
  );
  for (const [name, [properties, run]] of Object.entries(TOOLS)) {
    const inputSchema = schemaOf(properties);
    server.registerTool(name, { description: name, inputSchema }, (input, context) => run(input, context, server));
  }
  for (const [name, [args, run]] of Object.entries(PROMPTS)) {
    const argsSchema = schemaOf(Object.fromEntries(args.map((arg) => [arg, string])));
    server.registerPrompt(name, { description: name, argsSchema }, (values, context) => run(values, context) as never);
  }
  registerResources(server);
  if (requestInfo === undefined)
    for (const method of ['resources/subscribe', 'resources/unsubscribe'] as const)
      server.server.setRequestHandler(method, () => ({}));
  return server;
};
