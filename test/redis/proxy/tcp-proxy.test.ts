import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findRedis } from '../servers/find-redis.js';
import { RedisServer } from '../servers/redis-server.js';
import { type CommandFault, type Direction, TcpProxy } from './tcp-proxy.js';

let server: RedisServer;
let proxy: TcpProxy;
const clients: Redis[] = [];

/** Connects a client that neither repeats commands nor reconnects, so that it shows the effect of the proxy. */
async function connected(): Promise<Redis> {
  const client = new Redis({
    port: proxy.port,
    retryStrategy: () => null,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
  });
  client.on('error', () => undefined);
  clients.push(client);
  await client.ping();
  proxy.forget();
  return client;
}

const stored = () => server.control.get('key');
/** Time to expect silence, and time limit for a reply on a busy machine. */
const [MOMENT_MS, LONG_MS] = [150, 30_000];
const within = (ms: number, promise: Promise<unknown>): Promise<unknown> =>
  Promise.race([
    promise.catch((error: Error) => `failed: ${error.message}`),
    new Promise((resolve) => setTimeout(resolve, ms, 'silence')),
  ]);

describe.skipIf(findRedis() === undefined)('A proxy before a real server', () => {
  beforeAll(async () => {
    server = await RedisServer.start();
    proxy = await TcpProxy.open(server.port);
  });
  afterEach(async () => {
    proxy.forget();
    for (const client of clients.splice(0)) client.disconnect();
    await server.control.del('key');
  });
  afterAll(async () => {
    await proxy.close();
    await server.stop();
  });

  const faults: readonly [string, CommandFault, string, string | null][] = [
    ['none', 'none', 'OK', 'value'],
    ['before', 'before', 'failed: Connection is closed.', null],
    ['after', 'after', 'failed: Connection is closed.', 'value'],
    ['hang', 'hang', 'silence', null],
    ['lost', 'lost', 'silence', 'value'],
    ['delayed', { delayMs: 20 }, 'OK', 'value'],
    ['answered for', { error: 'LOADING not yet' }, 'failed: LOADING not yet', null],
  ];
  it.each(faults)('handles a command as planned: %s', async (_, fault, answer, state) => {
    const client = await connected();
    proxy.plan = ({ name }) => (name === 'SET' ? fault : 'none');
    expect(await within(answer === 'silence' ? MOMENT_MS : LONG_MS, client.set('key', 'value'))).toBe(answer);
    // On a busy machine, a moment of silence may end before the command has arrived.
    await expect.poll(stored).toBe(state);
    expect(proxy.faults).toBe(fault === 'none' ? 0 : 1);
  });

  it('keeps the order of replies if it sends one of them itself', async () => {
    const client = await connected();
    proxy.plan = ({ index }) => (index === 1 ? { error: 'OOM enough' } : 'none');
    const answers = [client.set('key', 'value'), client.get('key'), client.strlen('key')];
    expect(await Promise.all(answers.map((answer) => within(LONG_MS, answer)))).toEqual([
      'OK',
      'failed: OOM enough',
      5,
    ]);
  });

  it('keeps the order of commands if one of them is delayed', async () => {
    const client = await connected();
    proxy.plan = ({ index }) => (index === 0 ? { delayMs: 30 } : 'none');
    expect(await Promise.all([client.set('key', 'value'), client.get('key')])).toEqual(['OK', 'value']);
  });

  it.each<Direction>(['requests', 'replies'])('cuts %s at any byte', async (direction) => {
    let answered = 0;
    for (let at = 0; answered === 0; at++) {
      await server.control.del('key');
      const client = await connected();
      proxy.cutAfter(direction, at);
      const answer = await within(LONG_MS, client.set('key', 'value'));
      if (answer === 'OK') answered = at;
      else expect(answer).toBe('failed: Connection is closed.');
      expect(await stored()).toBe(answer === 'OK' || direction === 'replies' ? 'value' : null);
    }
    // The client accepts a status reply if only its last byte is missing.
    const needed = { requests: '*3\r\n$3\r\nset\r\n$3\r\nkey\r\n$5\r\nvalue\r\n', replies: '+OK\r' };
    expect(answered).toBe(needed[direction].length);
  });

  it('passes on the messages of a subscription', async () => {
    const client = await connected();
    const message = new Promise((resolve) => client.on('message', (_, text) => resolve(text)));
    await client.subscribe('channel');
    await server.control.publish('channel', 'hello');
    expect(await message).toBe('hello');
  });

  it('cuts and refuses connections', async () => {
    const client = await connected();
    proxy.isRefusing = true;
    proxy.cut();
    expect(await within(LONG_MS, client.ping())).toBe('failed: Connection is closed.');
    expect(proxy.connections).toBe(0);
  });
});
