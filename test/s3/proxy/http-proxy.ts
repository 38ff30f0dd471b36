import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/**
 * What befalls a request: nothing; the connection breaks before it is sent on, or after the store has done it; the answer is cut in
 * the middle; the store does it and the answer is an error; it is not sent on and the answer is an error.
 */
export type Fault = 'none' | 'dropped' | 'done and dropped' | 'cut' | 'done and 500' | 503 | 409 | 412;

export interface Seen {
  readonly method: string;
  readonly url: string;
}

/** A proxy before a store: it forwards every request as it is, unless the plan has something else in mind. */
export class HttpProxy {
  /** Decides what befalls the next request. */
  plan: (request: Seen) => Fault = () => 'none';
  readonly seen: Seen[] = [];
  readonly #target: URL;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((incoming, outgoing) => void this.#handle(incoming, outgoing));
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

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const seen = { method: incoming.method ?? '', url: incoming.url ?? '' };
    this.seen.push(seen);
    const fault = this.plan(seen);
    const body: Buffer[] = [];
    for await (const chunk of incoming) body.push(chunk as Buffer);
    if (fault === 'dropped') {
      incoming.socket.destroy();
      return;
    }
    if (typeof fault === 'number') {
      refuse(outgoing, fault);
      return;
    }
    const answer = await this.#forward(incoming, Buffer.concat(body)).catch(() => undefined);
    if (answer === undefined || fault === 'done and dropped') {
      incoming.socket.destroy();
      return;
    }
    if (fault === 'done and 500') {
      refuse(outgoing, 500);
      return;
    }
    outgoing.writeHead(answer.status, answer.headers);
    if (fault !== 'cut' || answer.body.length === 0) {
      outgoing.end(answer.body);
      return;
    }
    outgoing.write(answer.body.subarray(0, answer.body.length >> 1), () => incoming.socket.destroy());
  }

  /** With the headers as they were signed. */
  #forward(
    { method, url, rawHeaders }: IncomingMessage,
    body: Buffer,
  ): Promise<{ readonly status: number; readonly headers: string[]; readonly body: Buffer }> {
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
  409: 'ConditionalRequestConflict',
  412: 'PreconditionFailed',
  500: 'InternalError',
  503: 'SlowDown',
};

function refuse(outgoing: ServerResponse, status: number): void {
  outgoing.writeHead(status, { 'content-type': 'application/xml' });
  outgoing.end(`<?xml version="1.0"?><Error><Code>${NAMES[status]}</Code><Message>planned</Message></Error>`);
}
