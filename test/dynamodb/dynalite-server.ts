import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import dynalite from 'dynalite';

/** Keys that the emulator takes; it checks none. */
const KEYS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };

/** Starts an emulator of DynamoDB in memory, in this process. Gives the SDK its keys by the environment. */
export async function startDynalite(): Promise<{ readonly endpoint: string; readonly stop: () => Promise<void> }> {
  Object.assign(process.env, KEYS);
  const server: Server = dynalite({ createTableMs: 0 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${port}`, stop: () => promisify(server.close.bind(server))() as Promise<void> };
}
