import { randomUUID } from 'node:crypto';
import {
  isInitializeRequest,
  isLegacyRequest,
  type McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

/** Maximum number of sessions. A new one ends the one that was used least recently. */
export const MAX_SESSIONS = 64;

export const SESSION_HEADER = 'mcp-session-id';

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  close(): Promise<void>;
}

/**
 * Sessions of clients that use a revision of the protocol with a handshake. Only in a session can the server ask such a
 * client to show a form, and notify it of changes. A client whose session has ended gets 404, as the protocol says, and
 * begins another one.
 */
export class Sessions {
  readonly #factory: McpServerFactory;
  readonly #maxBodyBytes: number;
  /** In the order of their last use. */
  readonly #sessions = new Map<string, Session>();

  constructor(factory: McpServerFactory, maxBodyBytes: number) {
    this.#factory = factory;
    this.#maxBodyBytes = maxBodyBytes;
  }

  /** Serves a request that belongs to a session, or begins one. Returns undefined for any other. */
  async serve(request: Request, body: Uint8Array | undefined): Promise<Response | undefined> {
    const id = request.headers.get(SESSION_HEADER);
    if (id === null) return (await beginsSession(request, body)) ? this.#begin(request) : undefined;
    const session = this.#sessions.get(id);
    if (session === undefined) return noSession();
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session.transport.handleRequest(request);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((id) => this.#end(id)));
  }

  async #begin(request: Request): Promise<Response> {
    const server = await this.#factory({ era: 'legacy' });
    let hasBegun = false;
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: this.#maxBodyBytes,
      onsessioninitialized: (id) => {
        hasBegun = true;
        this.#sessions.set(id, { transport, close: () => server.close() });
        const [oldest] = this.#sessions.keys();
        if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) void this.#end(oldest);
      },
      onsessionclosed: (id) => this.#end(id),
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    if (!hasBegun) await server.close();
    return response;
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    await session?.close();
  }
}

/** Reports whether a request is the handshake of a revision that has one. */
async function beginsSession(request: Request, body: Uint8Array | undefined): Promise<boolean> {
  // Most requests are not a handshake, and are not parsed a second time.
  if (body === undefined || !Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes('"initialize"'))
    return false;
  try {
    const message: unknown = JSON.parse(new TextDecoder().decode(body));
    return isInitializeRequest(message) && (await isLegacyRequest(request, message));
  } catch {
    return false;
  }
}

function noSession(): Response {
  const error = { code: -32001, message: 'Session not found: send initialize again.' };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 404 });
}
