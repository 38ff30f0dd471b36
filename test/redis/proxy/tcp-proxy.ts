import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { FrameSplitter, wordsOf } from './frames.js';

/**
 * Fault of one command. `before`: the connection is cut and the server never receives the command. `after`: the server
 * receives it and the connection is cut instead of the reply. `hang`: from this command on nothing reaches the server.
 * `lost`: from its reply on nothing comes back. `delayMs`: it is passed on later. `error`, `reply`: the proxy replies
 * with this error, or these bytes, and the server never receives the command.
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
  /** Position in the order of arrival, over all connections. */
  readonly index: number;
  /** In upper case. */
  readonly name: string;
  readonly words: readonly string[];
}

export type ProxyPlan = (command: ProxiedCommand) => CommandFault;
export type Direction = 'requests' | 'replies';

const HARMLESS: ProxyPlan = () => 'none';

/** A proxy to a server on loopback that delays, cuts and replies according to a plan. Without a plan it only counts. */
export class TcpProxy {
  /** Decides the fault of each command. */
  plan: ProxyPlan = HARMLESS;
  /** Called for every command, harmless or not. */
  onCommand: ((command: ProxiedCommand) => void) | undefined;
  /** Called before a command is passed on to the server. */
  onPass: ((command: ProxiedCommand) => void) | undefined;
  /** Called after the server has replied to a command. */
  onReply: ((command: ProxiedCommand) => void) | undefined;
  /** Passes on one command at a time per connection. */
  isSerial = false;
  /** Accepts no connections. */
  isRefusing = false;
  /** Delay of every command, in milliseconds. */
  delayMs = 0;
  /** Commands since the proxy was opened, or since {@link forget}. */
  commands = 0;
  /** Commands with an injected fault, plus connections that were cut in the middle of a stream. */
  faults = 0;
  readonly bytes: Record<Direction, number> = { requests: 0, replies: 0 };
  readonly #cuts: Record<Direction, number> = { requests: Number.POSITIVE_INFINITY, replies: Number.POSITIVE_INFINITY };
  readonly #links = new Set<Link>();
  readonly #server: Server;

  private constructor(
    /** Port that new connections lead to. */
    public target: number,
  ) {
    this.#server = createServer((client) => {
      client.on('error', () => undefined);
      if (this.isRefusing) client.destroy();
      else this.#links.add(new Link(this, client));
    });
  }

  /** @param target the server's port */
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

  /** Cuts a connection once, after `bytes` more bytes have passed in this direction. */
  cutAfter(direction: Direction, bytes: number): void {
    this.#cuts[direction] = bytes;
  }

  /** Resets plan, cuts and counters. Commands that hang do so until their connection is cut. */
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

  /** @internal Returns how many of `length` bytes may pass; if fewer, the connection ends there. */
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

/** Source of a command's reply, in the order in which replies are due. */
type Due =
  | { readonly from: 'server'; readonly command: ProxiedCommand; readonly fault: CommandFault }
  | { readonly from: 'proxy'; readonly reply: string };

class Link {
  readonly #server: Socket;
  readonly #commands = new FrameSplitter();
  readonly #replies = new FrameSplitter();
  readonly #due: Due[] = [];
  /** Commands that wait for earlier replies. */
  readonly #held: (() => void)[] = [];
  /** Delayed commands keep their order. */
  #ahead: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isDeafened = false;
  #isSilenced = false;
  /** Messages of a subscription are not replies. */
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
    // The admitted bytes arrive before the connection ends.
    if (admitted > 0) socket.write(bytes.subarray(0, admitted));
    socket.destroySoon();
    if (direction === 'requests') this.client.destroy();
    else this.#server.destroy();
    this.proxy.remove(this);
  }
}
