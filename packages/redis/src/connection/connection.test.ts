import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Connection, ServerLink } from './connection.js';

it('a connection that is closed rejects immediately, while others wait for the shared link', async () => {
  // Accepts connections and never replies.
  const server = createServer((socket) => socket.on('error', () => {}));
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  onTestFinished(() => void server.close());
  const link = new ServerLink(`redis://127.0.0.1:${port}`);
  const [closed, other] = [new Connection(link, 5_000), new Connection(link, 5_000)];
  const settled: string[] = [];
  const wait = (connection: Connection, name: string): Promise<unknown> | undefined =>
    connection.whenReady()?.catch((error: unknown) => {
      settled.push(name);
      return error;
    });
  const waiting = [wait(other, 'other'), wait(closed, 'closed')];
  await closed.close();
  expect(await waiting[1]).toMatchObject({ kind: 'closed' });
  expect(settled).toEqual(['closed']);
  await other.close();
  await waiting[0];
});
