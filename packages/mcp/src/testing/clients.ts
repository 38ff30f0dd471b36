import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler, InMemoryTransport } from '@modelcontextprotocol/server';
import type { McpWorkspaceServer } from '../server/workspace-server.js';

/** Revisions with a handshake, and those without. */
export type Era = 'legacy' | 'modern';

/** What a person does with a form. */
export type Reply = { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: Record<string, unknown> };

export interface Connection {
  readonly client: Client;
  /** Messages of the forms that were shown. */
  readonly forms: string[];
  /** The text of a tool's result, with `Error: ` in front of a failure. */
  text(tool: string, input?: Record<string, unknown>): Promise<string>;
}

/** Connects a real client. `reply` makes it a client with forms. */
export async function connect(
  server: McpWorkspaceServer,
  era: Era,
  reply?: (message: string) => Reply | Promise<Reply>,
): Promise<Connection> {
  const capabilities = reply === undefined ? {} : { elicitation: { form: {} } };
  const mode = era === 'modern' ? 'auto' : 'legacy';
  const client = new Client({ name: 'tester', version: '1' }, { capabilities, versionNegotiation: { mode } });
  const forms: string[] = [];
  if (reply !== undefined)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      forms.push(params.message);
      return (await reply(params.message)) as never;
    });
  if (era === 'modern') {
    const handler = createMcpHandler(server.factory, { legacy: 'reject' });
    const fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
      handler.fetch(new Request(input, init));
    await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch: fetch as never }));
  } else {
    const [near, far] = InMemoryTransport.createLinkedPair();
    const made = await server.factory({ era: 'legacy' });
    await made.connect(far);
    await client.connect(near as never);
  }
  return {
    client,
    forms,
    text: async (tool, input = {}) => {
      const { content, isError } = await client.callTool({ name: tool, arguments: input });
      const text = content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
      return isError ? `Error: ${text}` : text;
    },
  };
}
