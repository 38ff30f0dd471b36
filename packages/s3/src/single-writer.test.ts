import { afterEach, beforeEach, expect, it, vi } from 'vitest';

// The test only looks at the commands that are sent.
class Command {
  readonly middlewareStack = { add: () => undefined };
  constructor(readonly input: unknown) {}
}

beforeEach(() => {
  vi.resetModules();
  vi.doMock('./sdk.js', () => ({
    loadSdk: async () => ({ GetObjectCommand: Command, PutObjectCommand: Command }),
  }));
});
afterEach(() => {
  vi.doUnmock('./sdk.js');
  vi.resetModules();
});

it('a single writer continues if a read returns after the write that followed the head it has seen', async () => {
  let body = new Uint8Array([1]);
  let reads = 0;
  let slowly: Promise<void> | undefined;
  const send = async ({ input }: { readonly input: { readonly Body?: Uint8Array<ArrayBuffer> } }) => {
    if (input.Body === undefined) reads += 1;
    else body = input.Body;
    const seen = body;
    await slowly;
    return { ETag: `${seen[0]}`, Body: { transformToByteArray: async () => seen } };
  };
  const client = async () => ({ send }) as never;
  const { S3ObjectStore } = await import('./s3-object-store.js');
  const store = new S3ObjectStore({ client, bucket: 'b', close: async () => {}, prefix: '', singleWriter: true });
  const write = (byte: number) => store.swapHead(new Uint8Array([byte]), `${byte - 1}`);
  expect(await write(2)).toBe('2');
  let answer = (): void => {};
  slowly = new Promise((resolve) => {
    answer = resolve;
  });
  const read = store.readHead(undefined);
  await vi.waitFor(() => expect(reads).toBe(2));
  slowly = undefined;
  expect(await write(3)).toBe('3');
  answer();
  expect(await read).toMatchObject({ tag: '2' });
  expect(await write(4)).toBe('4');
});

it('a single writer recognizes its own late head, however many writes were refused since', async () => {
  let body = new Uint8Array([1]);
  const failures: Error[] = [];
  const send = async ({ input }: { readonly input: { readonly Body?: Uint8Array<ArrayBuffer> } }) => {
    const failure = input.Body === undefined ? undefined : failures.shift();
    if (failure !== undefined) throw failure;
    if (input.Body !== undefined) body = input.Body;
    const seen = body;
    return { ETag: `${seen[0]}`, Body: { transformToByteArray: async () => seen } };
  };
  const client = async () => ({ send }) as never;
  const { S3ObjectStore } = await import('./s3-object-store.js');
  const store = new S3ObjectStore({ client, bucket: 'b', close: async () => {}, prefix: '', singleWriter: true });
  const write = (byte: number) => store.swapHead(new Uint8Array([byte]), '1');
  failures.push(new Error('no answer'));
  await expect(write(2)).rejects.toMatchObject({ retryable: true });
  for (let i = 0; i < 100; i++) {
    failures.push(Object.assign(new Error('refused'), { name: 'AccessDenied', $metadata: { httpStatusCode: 403 } }));
    await expect(write(3)).rejects.toMatchObject({ retryable: false });
  }
  body = new Uint8Array([2]);
  expect(await write(3)).toBe(undefined);
  expect(await store.swapHead(new Uint8Array([4]), '2')).toBe('4');
});
