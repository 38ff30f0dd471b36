import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Fault of one request. `dropped`, `done and dropped`: the connection breaks before it is forwarded, or after the store
 * has handled it. `silence`, `done and silence`: no response, likewise. `twice`: the store handles it twice and the
 * second response counts. `late`: the connection breaks and the store handles it later. `done and 500`, `cut`,
 * `flipped`: the store handles it and the response is an error, ends in the middle, or has a wrong bit. A number: not
 * forwarded, the response has this error status. Objects: forwarded later, with the response no earlier than `takesMs`
 * after it, or cut after `cutAt` bytes.
 */
export type Fault =
  | 'none'
  | 'dropped'
  | 'done and dropped'
  | 'silence'
  | 'done and silence'
  | 'twice'
  | 'late'
  | 'done and 500'
  | 'cut'
  | 'flipped'
  | 403
  | 409
  | 412
  | 500
  | 503
  | { readonly delayMs: number }
  | { readonly takesMs: number }
  | { readonly cutAt: number };

export interface Seen {
  readonly method: string;
  readonly url: string;
  /** Number of requests before this one, since the proxy was last reset. */
  readonly index: number;
  readonly body: number;
}

interface Answer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

const LATE_MS = 25;

/** A proxy to a store. It forwards every request unchanged, unless the plan says otherwise. */
export class HttpProxy {
  /** Decides the fault of the next request. */
  plan: (request: Seen) => Fault = () => 'none';
  /** Called for every request before it is forwarded. */
  onRequest: (request: Seen) => void = () => {};
  readonly seen: Seen[] = [];
  /** Injected faults. */
  faults = 0;
  readonly #target: URL;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #late = new Set<Promise<unknown>>();
  readonly #silent = new WeakSet<Socket>();

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((incoming, outgoing) => void this.#handle(incoming, outgoing).catch(() => {}));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => {});
    });
  }

  static async start(target: string): Promise<HttpProxy> {
    const proxy = new HttpProxy(new URL(target));
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Removes plan and listener, resets the counters and ends silent connections. */
  forget(): void {
    this.plan = () => 'none';
    this.onRequest = () => {};
    this.seen.length = 0;
    this.faults = 0;
    for (const socket of this.#sockets) if (this.#silent.has(socket)) socket.destroy();
  }

  /** Resolves once all delayed requests have been handled. */
  async settled(): Promise<void> {
    while (this.#late.size > 0) await Promise.all(this.#late);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.settled();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const { method = '', url = '' } = incoming;
    const seen = { method, url, index: this.seen.length, body: body.length };
    this.seen.push(seen);
    this.onRequest(seen);
    const fault = this.plan(seen);
    if (fault !== 'none' && !(typeof fault === 'object' && 'cutAt' in fault)) this.faults += 1;
    const forward = (): Promise<Answer> => this.#forward(incoming, body);
    const answer = await this.#answerTo(fault, forward).catch(() => 'dropped' as const);
    if (answer === 'dropped') incoming.socket.destroy();
    else if (answer === 'silence') this.#silent.add(incoming.socket);
    else if (fault === 'cut') cut(outgoing, answer, Infinity, answer.body.length >> 1);
    else if (typeof fault === 'object' && 'cutAt' in fault) {
      // A cut after the last byte changes nothing.
      if (cut(outgoing, answer, fault.cutAt)) this.faults += 1;
    } else {
      outgoing.writeHead(answer.status, [...answer.headers]);
      outgoing.end(answer.body);
    }
  }

  async #answerTo(fault: Fault, forward: () => Promise<Answer>): Promise<Answer | 'dropped' | 'silence'> {
    if (typeof fault === 'number') return refusal(fault);
    if (typeof fault === 'object') {
      if ('takesMs' in fault) {
        const [answer] = await Promise.all([forward(), sleep(fault.takesMs)]);
        return answer;
      }
      if ('delayMs' in fault) await sleep(fault.delayMs);
      return forward();
    }
    switch (fault) {
      case 'dropped':
      case 'silence':
        return fault;
      case 'late': {
        const late = sleep(LATE_MS)
          .then(forward)
          .catch(() => {})
          .finally(() => this.#late.delete(late));
        this.#late.add(late);
        return 'dropped';
      }
      case 'done and dropped':
        await forward();
        return 'dropped';
      case 'done and silence':
        await forward();
        return 'silence';
      case 'done and 500':
        await forward();
        return refusal(500);
      case 'twice':
        await forward();
        return forward();
      case 'flipped':
        return flipped(await forward());
      default:
        return forward();
    }
  }

  /** Forwards a request with its headers unchanged, as they were signed. */
  #forward({ method, url, rawHeaders }: IncomingMessage, body: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = this.#target;
      const outgoing = request({ hostname, port, method, path: url, headers: rawHeaders, agent: false }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 500, headers: answer.rawHeaders, body: Buffer.concat(parts) }),
        );
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }
}

const NAMES: Readonly<Record<number, string>> = {
  403: 'RequestTimeTooSkewed',
  409: 'ConditionalRequestConflict',
  412: 'PreconditionFailed',
  500: 'InternalError',
  503: 'SlowDown',
};

function refusal(status: number): Answer {
  const text = `<?xml version="1.0"?><Error><Code>${NAMES[status]}</Code><Message>planned</Message></Error>`;
  return { status, headers: ['content-type', 'application/xml'], body: Buffer.from(text) };
}

function flipped(answer: Answer): Answer {
  if (answer.body.length === 0 || answer.status >= 300) return answer;
  const body = Buffer.from(answer.body);
  const at = body.length >> 1;
  body[at] = (body[at] as number) ^ 1;
  return { ...answer, body };
}

/**
 * Sends the first `bytes` bytes of a response, with at most `ofBody` bytes of its body, and breaks the connection.
 * Reports whether anything was left out.
 */
function cut(
  outgoing: ServerResponse,
  { status, headers, body }: Answer,
  bytes: number,
  ofBody = body.length,
): boolean {
  const lines = [`HTTP/1.1 ${status} as it was`];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  const all = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
  const sent = Math.min(bytes, all.length - body.length + ofBody);
  const { socket } = outgoing;
  if (socket === null || sent === 0) socket?.destroy();
  else socket.write(all.subarray(0, sent), () => socket.destroy());
  return sent < all.length;
}
