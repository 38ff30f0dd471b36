import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { FrameSplitter, wordsOf } from './frames.js';

/**
 * What becomes of one command: `before`: the connection is cut and the server never sees it; `after`: the server gets it and
 * the connection is cut instead of the reply; `hang`: from it on nothing reaches the server; `lost`: from its reply on
 * nothing comes back; `delayMs`: it is passed on later; `error`, `reply`: it is answered with this error, or these bytes, and
 * the server never sees it.
 */
export type CommandFault =
  | 'none'
  | 'before'
  | 'after'
  | 'hang'
  | 'lost'
  | { readonly delayMs: number }
  | { readonly error: string }
  | { readonly reply: string };

/** A command on its way to the server. */
export interface ProxiedCommand {
  /** In the order of arrival, over all connections. */
  readonly index: number;
  /** In upper case. */
  readonly name: string;
  readonly words: readonly string[];
}

export type ProxyPlan = (command: ProxiedCommand) => CommandFault;
export type Direction = 'requests' | 'replies';

const HARMLESS: ProxyPlan = () => 'none';

/** A way to a server on loopback that delays, cuts and answers by plan; without a plan it only counts. */
export class TcpProxy {
  /** Decides about every command from now on. */
  plan: ProxyPlan = HARMLESS;
  /** Told of every command, harmless or not. */
  onCommand: ((command: ProxiedCommand) => void) | undefined;
  /** Told when a command is about to be passed on to the server. */
  onPass: ((command: ProxiedCommand) => void) | undefined;
  /** Told when a command has been answered by the server. */
  onReply: ((command: ProxiedCommand) => void) | undefined;
  /** Of each connection one command at a time is passed on. */
  isSerial = false;
  /** No connection is accepted. */
  isRefusing = false;
  /** Every command is passed on so much later. */
  delayMs = 0;
  /** Commands since the proxy was made, or since {@link forget}. */
  commands = 0;
  /** How many commands a fault was done to, and how many connections were cut in the middle of a stream. */
  faults = 0;
  readonly bytes: Record<Direction, number> = { requests: 0, replies: 0 };
  readonly #cuts: Record<Direction, number> = { requests: Number.POSITIVE_INFINITY, replies: Number.POSITIVE_INFINITY };
  readonly #links = new Set<Link>();
  readonly #server: Server;

  private constructor(
    /** The port that new connections lead to. */
    public target: number,
  ) {
    this.#server = createServer((client) => {
      client.on('error', () => undefined);
      if (this.isRefusing) client.destroy();
      else this.#links.add(new Link(this, client));
    });
  }

  /** @param target the port of the server */
  static async open(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#server.listen(0, '127.0.0.1').unref();
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('The proxy is closed');
    return address.port;
  }

  get connections(): number {
    return this.#links.size;
  }

  /** Cuts the connection that carries it when so many more bytes have passed; once. */
  cutAfter(direction: Direction, bytes: number): void {
    this.#cuts[direction] = bytes;
  }

  /** Ends plan, cuts and counts; what hangs stays so until its connection is cut. */
  forget(): void {
    this.plan = HARMLESS;
    this.onCommand = undefined;
    this.onPass = undefined;
    this.onReply = undefined;
    this.isSerial = false;
    this.isRefusing = false;
    this.delayMs = 0;
    this.commands = 0;
    this.faults = 0;
    for (const direction of ['requests', 'replies'] as const) {
      this.bytes[direction] = 0;
      this.#cuts[direction] = Number.POSITIVE_INFINITY;
    }
  }

  /** Cuts every connection. */
  cut(): void {
    for (const link of [...this.#links]) link.cut();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** @internal How many of so many bytes may pass; fewer than asked for is where the connection ends. */
  admit(direction: Direction, length: number): number {
    const admitted = Math.min(length, this.#cuts[direction]);
    this.bytes[direction] += admitted;
    this.#cuts[direction] -= admitted;
    if (admitted === length) return length;
    this.#cuts[direction] = Number.POSITIVE_INFINITY;
    this.faults += 1;
    return admitted;
  }

  /** @internal */
  remove(link: Link): void {
    this.#links.delete(link);
  }
}

/** Where the reply of a command comes from, in the order in which replies are due. */
type Due =
  | { readonly from: 'server'; readonly command: ProxiedCommand; readonly fault: CommandFault }
  | { readonly from: 'proxy'; readonly reply: string };

class Link {
  readonly #server: Socket;
  readonly #commands = new FrameSplitter();
  readonly #replies = new FrameSplitter();
  readonly #due: Due[] = [];
  /** Commands that wait for the replies before theirs. */
  readonly #held: (() => void)[] = [];
  /** Commands that are passed on later keep their order. */
  #ahead: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isDeafened = false;
  #isSilenced = false;
  /** Messages of a subscription are no replies. */
  #isSubscribed = false;

  constructor(
    private readonly proxy: TcpProxy,
    private readonly client: Socket,
  ) {
    this.#server = connect(proxy.target, '127.0.0.1');
    for (const socket of [client, this.#server]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => this.cut());
    }
    client.on('data', (chunk) => {
      for (const command of this.#commands.push(chunk)) this.#request(command);
    });
    this.#server.on('data', (chunk) => {
      if (this.#isSubscribed) this.#send('replies', this.client, chunk);
      else for (const reply of this.#replies.push(chunk)) this.#reply(reply);
    });
  }

  cut(): void {
    this.client.destroy();
    this.#server.destroy();
    this.proxy.remove(this);
  }

  #request(bytes: Buffer): void {
    const { proxy } = this;
    const words = wordsOf(bytes);
    const command: ProxiedCommand = { index: proxy.commands, name: (words[0] ?? '').toUpperCase(), words };
    proxy.commands += 1;
    proxy.onCommand?.(command);
    const fault = proxy.plan(command);
    if (fault !== 'none') proxy.faults += 1;
    const delayMs = typeof fault === 'object' && 'delayMs' in fault ? fault.delayMs : proxy.delayMs;
    if (proxy.isSerial && (this.#due.length > 0 || this.#held.length > 0)) {
      this.#held.push(() => this.#pass(bytes, command, fault));
      return;
    }
    if (delayMs === 0 && this.#waiting === 0) {
      this.#pass(bytes, command, fault);
      return;
    }
    this.#waiting += 1;
    const later = new Promise((resolve) => setTimeout(resolve, delayMs));
    this.#ahead = Promise.all([this.#ahead, later]).then(() => {
      this.#waiting -= 1;
      this.#pass(bytes, command, fault);
    });
  }

  #pass(bytes: Buffer, command: ProxiedCommand, fault: CommandFault): void {
    if (this.#isDeafened) return;
    if (fault === 'before') {
      this.cut();
      return;
    }
    if (fault === 'hang') {
      this.#isDeafened = true;
      return;
    }
    if (typeof fault === 'object' && !('delayMs' in fault)) {
      this.#due.push({ from: 'proxy', reply: 'error' in fault ? `-${fault.error}\r\n` : fault.reply });
      this.#answerDue();
      return;
    }
    if (/^[PS]?SUBSCRIBE$/.test(command.name) || command.name === 'MONITOR') this.#isSubscribed = true;
    this.proxy.onPass?.(command);
    this.#due.push({ from: 'server', command, fault });
    this.#send('requests', this.#server, bytes);
  }

  #reply(bytes: Buffer): void {
    const isPush = bytes[0] === 0x3e;
    const due = isPush ? undefined : this.#due.shift();
    if (due?.from === 'server' && due.fault === 'after') {
      this.cut();
      return;
    }
    if (due?.from === 'server' && due.fault === 'lost') this.#isSilenced = true;
    if (due?.from === 'server') this.proxy.onReply?.(due.command);
    this.#send('replies', this.client, bytes);
    this.#answerDue();
    if (this.#due.length === 0) this.#held.shift()?.();
  }

  #answerDue(): void {
    for (let next = this.#due[0]; next?.from === 'proxy'; next = this.#due[0]) {
      this.#due.shift();
      this.#send('replies', this.client, Buffer.from(next.reply));
    }
  }

  #send(direction: Direction, socket: Socket, bytes: Buffer): void {
    if (direction === 'replies' && this.#isSilenced) return;
    const admitted = this.proxy.admit(direction, bytes.length);
    if (admitted === bytes.length) {
      socket.write(bytes);
      return;
    }
    // What was admitted arrives before the connection ends.
    if (admitted > 0) socket.write(bytes.subarray(0, admitted));
    socket.destroySoon();
    if (direction === 'requests') this.client.destroy();
    else this.#server.destroy();
    this.proxy.remove(this);
  }
}
