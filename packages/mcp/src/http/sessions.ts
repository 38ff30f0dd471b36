import { randomUUID } from 'node:crypto';
import {
  isInitializeRequest,
  isLegacyRequest,
  type McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

/**
 * Maximum number of sessions. A new one ends the one that was used least recently of those without an open request; if all
 * have one, it is refused.
 */
export const MAX_SESSIONS = 64;

export const SESSION_HEADER = 'mcp-session-id';

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Number of open requests, including streams. */
  open: number;
  close(): Promise<void>;
}

/**
 * Sessions of clients that use a revision of the protocol with a handshake. Over HTTP, the server can ask such a client
 * to show a form, and notify it of changes, in a session only. A client whose session has ended gets 404, as the protocol
 * says.
 */
export class Sessions {
  readonly #factory: McpServerFactory;
  readonly #maxBodyBytes: number;
  /** In the order of their last use. */
  readonly #sessions = new Map<string, Session>();
  #isClosed = false;

  constructor(factory: McpServerFactory, maxBodyBytes: number) {
    this.#factory = factory;
    this.#maxBodyBytes = maxBodyBytes;
  }

  /**
   * Serves a request that belongs to a session, or begins one. Returns undefined for any other.
   * @param ended resolves when the request is no longer open
   */
  async serve(request: Request, body: Uint8Array | undefined, ended: Promise<unknown>): Promise<Response | undefined> {
    const id = request.headers.get(SESSION_HEADER);
    if (id === null) return (await beginsSession(request, body)) ? this.#begin(request, ended) : undefined;
    const session = this.#sessions.get(id);
    if (session === undefined) return noSession();
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    countUntil(ended, session);
    return session.transport.handleRequest(request);
  }

  /** Ends all sessions, and lets no other begin. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#sessions.keys()].map((id) => this.#end(id)));
  }

  async #begin(request: Request, ended: Promise<unknown>): Promise<Response> {
    if (this.#isClosed || (this.#sessions.size >= MAX_SESSIONS && !this.#endIdle())) return busy();
    const id = randomUUID();
    let hasBegun = false;
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      maxRequestBodySize: this.#maxBodyBytes,
      onsessioninitialized: () => {
        hasBegun = true;
      },
      onsessionclosed: () => this.#end(id),
    });
    let close = (): Promise<void> => transport.close();
    // The session takes its place before anything is awaited, so that there are never more than `MAX_SESSIONS`.
    const session = { transport, open: 0, close: () => close() };
    this.#sessions.set(id, session);
    countUntil(ended, session);
    try {
      const server = await this.#factory({ era: 'legacy' });
      if (this.#isClosed) return busy();
      close = () => server.close();
      await server.connect(transport);
      return await transport.handleRequest(request);
    } finally {
      if (!hasBegun || this.#isClosed) await this.#end(id, session);
    }
  }

  /** Ends the session without an open request that was used least recently. Returns false if there is none. */
  #endIdle(): boolean {
    for (const [id, { open }] of this.#sessions) {
      if (open > 0) continue;
      void this.#end(id);
      return true;
    }
    return false;
  }

  async #end(id: string, session = this.#sessions.get(id)): Promise<void> {
    this.#sessions.delete(id);
    await session?.close();
  }
}

/** Counts a request of a session until it has ended. */
function countUntil(ended: Promise<unknown>, session: Session): void {
  session.open++;
  void ended.then(() => {
    session.open--;
  });
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

function busy(): Response {
  const error = { code: -32000, message: 'All sessions are in use: try again later.' };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 503, headers: { 'Retry-After': '5' } });
}
