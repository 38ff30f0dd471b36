import { expect, it } from 'vitest';
import { Subscriptions } from './subscriptions.js';

it('a function that listens twice still listens after one of both was stopped', async () => {
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  async function* events() {
    await stopped;
    yield { type: 'operation', operation: { attempt: 'one', changes: [{ path: '/a' }] } };
  }
  const subscriptions = new Subscriptions(
    async () => events() as never,
    async () => true,
  );
  const uris: string[] = [];
  const listener = (uri: string): void => void uris.push(uri);
  const [first] = [subscriptions.listen(listener), subscriptions.listen(listener)];
  first?.();
  stop();
  await expect.poll(() => uris).toEqual(['scratchfs://one/a']);
});
