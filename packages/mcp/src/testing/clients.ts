import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type CallToolResult, createMcpHandler, InMemoryTransport } from '@modelcontextprotocol/server';
import type { McpWorkspaceServer } from '../server/workspace-server.js';

/** Revisions with a handshake, and those without. */
export type Era = 'legacy' | 'modern';

/** Reply of a person to a form. */
export type Reply = { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: Record<string, unknown> };

export interface Connection {
  readonly client: Client;
  /** Messages of the forms that were shown. */
  readonly forms: string[];
  /** Calls a tool, with the client's handle if it needs one. */
  call(tool: string, input?: Record<string, unknown>): Promise<CallToolResult>;
  /** The text of a tool's result, with `Error: ` in front of a failure. */
  text(tool: string, input?: Record<string, unknown>): Promise<string>;
}

/**
 * Returns a function that calls a tool as a model does: it passes the handle that a result names in later calls, and
 * calls again if the first call needed it. Texts are without the line that names the handle.
 */
export function withHandle<R>(
  call: (input: Record<string, unknown>) => Promise<R>,
  textOf: (result: R) => string,
): (input: Record<string, unknown>) => Promise<{ readonly result: R; readonly text: string }> {
  let handle: string | undefined;
  return async (input) => {
    for (;;) {
      const result = await call({ ...(handle === undefined ? {} : { client: handle }), ...input });
      const text = textOf(result);
      const named = /pass client: "(\w+)"/i.exec(text)?.[1];
      handle = named ?? handle;
      if (!text.includes('This call needs client')) return { result, text: text.replace(/\n\[Pass client: .*\]/, '') };
    }
  };
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
  const call = withHandle(
    ({ tool, ...input }) => client.callTool({ name: tool as string, arguments: input }),
    ({ content }) => content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n'),
  );
  return {
    client,
    forms,
    call: async (tool, input = {}) => (await call({ ...input, tool })).result as CallToolResult,
    text: async (tool, input = {}) => {
      const { result, text } = await call({ ...input, tool });
      return result.isError ? `Error: ${text}` : text;
    },
  };
}
