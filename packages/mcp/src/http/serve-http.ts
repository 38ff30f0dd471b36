import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createMcpHandler,
  localhostAllowedHostnames,
  type McpServerFactory,
  validateHostHeader,
} from '@modelcontextprotocol/server';
import { checkOptions } from '@scratchfs/core/internal';
import { SESSION_HEADER, Sessions } from './sessions.js';

/** A source of MCP servers for HTTP, such as a `McpWorkspaceServer`. */
export interface HttpSource {
  readonly factory: McpServerFactory;
  /** Calls a function with the URI of each resource that changes. Returns a function that stops this. */
  onResourceChange(listener: (uri: string) => void): () => void;
}

export interface HttpOptions {
  /** Port on 127.0.0.1. 0 takes a free one. */
  readonly port: number;
  /**
   * Secret that every request carries as `Authorization: Bearer …`. At least 16 printable ASCII characters, no spaces.
   */
  readonly token: string;
  /**
   * Names that the Host header may have besides localhost, 127.0.0.1 and [::1], such as that of a proxy. Default: none.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Maximum bytes of a request's body. Default 4 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /**
   * Milliseconds within which a request must have arrived completely. The connection of a slower one is closed, up to a
   * quarter of that time later. Default 30,000.
   */
  readonly requestTimeoutMs?: number | undefined;
}

/** A running HTTP server. */
export interface HttpServer {
  /** Address of the endpoint, such as `http://127.0.0.1:8931/mcp`. */
  readonly url: string;
  /** Ends open requests and the server. The workspace stays open. */
  close(): Promise<void>;
}

const PATH = '/mcp';
const MIB = 2 ** 20;
/**
 * Maximum number of requests with the right token that are open at the same time, including streams and those that wait
 * for a form. Others are refused with status 503, and the client should try again.
 */
export const MAX_RUNNING = 256;
const BUSY: Refusal = { status: 503, text: 'Too many requests at the same time.', headers: { 'Retry-After': '1' } };
const MAX_SUBSCRIPTIONS = 64;
const MAX_SUBSCRIPTION_BYTES = 256 * 1024;
/** Bytes that a client may leave unread. The connection of one that leaves more is closed at the next event. */
export const MAX_BACKLOG_BYTES = MIB;
/** Maximum number of connections that wait to be accepted; Linux allows 4,096 by default. Others may be reset. */
const BACKLOG = 4_096;
/** Maximum length in bytes of a refused request's body that is read before the response. */
const MAX_DRAINED_BYTES = 64 * 1024;

/**
 * Serves MCP over HTTP on 127.0.0.1. Each request is checked before the protocol's handler sees it: Host, Origin, path,
 * token, method, then the length of its body. Pages of other origins get no CORS header.
 * @throws TypeError, RangeError for invalid options; the error of `listen`, such as EADDRINUSE if the port is taken
 */
export async function serveHttp(server: HttpSource, options: HttpOptions): Promise<HttpServer> {
  const { port, token, allowedHosts = [], maxBodyBytes = 4 * MIB, requestTimeoutMs = 30_000 } = checkedOptions(options);
  const hosts = [...localhostAllowedHostnames(), ...allowedHosts];
  const handler = createMcpHandler(server.factory, {
    maxRequestBodySize: maxBodyBytes,
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    bus: {
      publish: () => {},
      subscribe: (listener) => server.onResourceChange((uri) => listener({ kind: 'resource_updated', uri })),
    },
  });
  const sessions = new Sessions(server.factory, maxBodyBytes);
  const isToken = tokenCheck(token);
  let running = 0;
  const times = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.ceil(requestTimeoutMs / 4),
  };
  const http = createServer(times, (request, response) => {
    const refusal = refusalOf(request, hosts, isToken);
    if (refusal !== undefined) return refuse(request, response, refusal);
    if (running >= MAX_RUNNING) return refuse(request, response, BUSY);
    running++;
    const closed = new Promise((resolve) => response.once('close', resolve));
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const served = serve(request, response, maxBodyBytes, async (made, body) => {
      if (isLongSubscription(body)) return tooLongSubscription();
      return (await sessions.serve(made, body, ended)) ?? handler.fetch(made);
    });
    // A call in a session goes on if its client disconnects.
    const done = isCallOfSession(request) ? Promise.all([closed, served]) : closed;
    void done.then(() => {
      running--;
      end();
    });
  });
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    http.listen({ port, host: '127.0.0.1', backlog: BACKLOG }, resolve);
  });
  const { port: taken } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}${PATH}`,
    close: async () => {
      await handler.close();
      await sessions.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

function checkedOptions(options: HttpOptions): HttpOptions {
  const known = ['port', 'token', 'allowedHosts', 'maxBodyBytes', 'requestTimeoutMs'];
  const given = checkOptions<HttpOptions>(options, known, 'serveHttp', false) as HttpOptions;
  const { port, token } = given;
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new RangeError(`port must be a whole number from 0 to 65535, not ${String(port)}`);
  if (typeof token !== 'string' || !/^[\x21-\x7e]{16,}$/.test(token))
    throw new TypeError('token must be a text of 16 printable characters or more, without spaces');
  for (const name of ['maxBodyBytes', 'requestTimeoutMs'] as const)
    if (given[name] !== undefined && !(Number.isSafeInteger(given[name]) && given[name] > 0))
      throw new RangeError(`${name} must be a whole number above 0, not ${String(given[name])}`);
  return given;
}

interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns the refusal of a request, judged by its head alone; undefined if it is allowed. */
function refusalOf(
  { headers, url = '', method }: IncomingMessage,
  hosts: readonly string[],
  isToken: (given: string) => boolean,
): Refusal | undefined {
  const { host = '', origin, authorization = '' } = headers;
  // A page that reaches this address by DNS rebinding sends its own name as Host.
  if (!validateHostHeader(host, [...hosts]).ok) return { status: 403, text: 'This Host is not allowed.' };
  // Origin names the page that makes the request, if a browser sends it. No page is served here.
  if (origin !== undefined && origin !== `http://${host}`) return { status: 403, text: 'This Origin is not allowed.' };
  if (url !== PATH) {
    const text = url.startsWith(`${PATH}?`) ? 'The address takes no query: send the token as a header.' : 'Not found.';
    return { status: url.startsWith(`${PATH}?`) ? 400 : 404, text };
  }
  const [scheme = '', given = '', ...more] = authorization.split(' ');
  if (scheme.toLowerCase() !== 'bearer' || more.length > 0 || !isToken(given))
    return {
      status: 401,
      text: 'Send Authorization: Bearer and the token.',
      headers: { 'WWW-Authenticate': 'Bearer' },
    };
  const isOfSession = headers[SESSION_HEADER] !== undefined && (method === 'GET' || method === 'DELETE');
  if (method !== 'POST' && !isOfSession)
    return { status: 405, text: 'Only POST is served, and GET and DELETE of a session.', headers: { Allow: 'POST' } };
  return undefined;
}

/** Returns a function that compares a token by its hash, so that the time reveals neither the token nor its length. */
function tokenCheck(token: string): (given: string) => boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  const wanted = hash(token);
  return (given) => timingSafeEqual(hash(given), wanted);
}

function refuse(request: IncomingMessage, response: ServerResponse, { status, text, headers = {} }: Refusal): void {
  const respond = (more: Readonly<Record<string, string>> = {}): void => {
    response.writeHead(status, { ...headers, ...more, 'Content-Type': 'text/plain' });
    response.end(`${text}\n`);
  };
  // A short body is read: a connection that is closed while bytes are unread is reset, and the client may lose the
  // response.
  if (request.readableEnded) respond();
  else if (Number(request.headers['content-length']) <= MAX_DRAINED_BYTES)
    request.once('end', () => respond()).resume();
  else respond({ Connection: 'close' });
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  maxBodyBytes: number,
  fetch: (request: Request, body: Uint8Array | undefined) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    const { method = 'POST' } = request;
    const body = await bodyOf(request, maxBodyBytes);
    if (body === undefined)
      return refuse(request, response, { status: 413, text: `The body is longer than ${maxBodyBytes} bytes.` });
    const headers = new Headers();
    // The protocol's handler does not get the token.
    for (const [name, value] of Object.entries(request.headers))
      if (typeof value === 'string' && name !== 'authorization') headers.set(name, value);
    const sent = method === 'POST' ? body : undefined;
    const init = { method, headers, signal: gone.signal, ...(sent === undefined ? {} : { body: sent }) };
    const result = await fetch(new Request(`http://127.0.0.1${PATH}`, init), sent);
    await send(result, response, method, isCallOfSession(request));
  } catch {
    if (response.headersSent) response.destroy();
    else refuse(request, response, { status: 500, text: 'The request failed.' });
  }
}

/** Reads a body. Returns undefined if it is too long. */
async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** Reports whether a request stays open in its session until all its calls have ended. */
function isCallOfSession({ method, headers }: IncomingMessage): boolean {
  return method === 'POST' && headers[SESSION_HEADER] !== undefined;
}

/** Reports whether a request that subscribes to resources is so long that their names would take much memory. */
function isLongSubscription(body: Uint8Array | undefined): boolean {
  if (body === undefined || body.byteLength <= MAX_SUBSCRIPTION_BYTES) return false;
  try {
    const message: unknown = JSON.parse(new TextDecoder().decode(body));
    return [message].flat().some((one) => Object(one).method === 'subscriptions/listen');
  } catch {
    return false;
  }
}

function tooLongSubscription(): Response {
  const text = `A request that subscribes to resources may have ${MAX_SUBSCRIPTION_BYTES} bytes: name fewer.\n`;
  return new Response(text, { status: 413, headers: { 'Content-Type': 'text/plain' } });
}

/** @param readsToEnd true if the result is read to its end even if the client is gone, because it ends with the call */
async function send(result: Response, response: ServerResponse, method: string, readsToEnd: boolean): Promise<void> {
  response.writeHead(result.status, Object.fromEntries(result.headers));
  // A stream of events may have nothing to send for long, so its head is sent now. For other responses that is harmful:
  // the head of one that waits behind another, by pipelining, would stop the connection.
  if (method === 'GET') response.flushHeaders();
  if (result.body !== null) {
    const reader = result.body.getReader();
    if (!readsToEnd) response.once('close', () => void reader.cancel().catch(() => undefined));
    for (;;) {
      const { done, value } = await reader.read();
      if (done || (response.destroyed && !readsToEnd)) break;
      if (response.destroyed) continue;
      // Events are not held back for a slow client: the SDK would keep them without a limit.
      if (response.writableLength > MAX_BACKLOG_BYTES) response.destroy();
      else response.write(value);
    }
  }
  response.end();
}
