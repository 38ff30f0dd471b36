import { ContainerClient, newPipeline } from '@azure/storage-blob';
import { expect, it } from 'vitest';
import { sendingOnce } from './container-client.js';
import { AzureBlobStorage } from './index.js';

const client = new ContainerClient('https://account.blob.core.windows.net/agents?sv=1&sig=a%2Fb', undefined, {
  userAgentOptions: { userAgentPrefix: 'mine' },
});
const pipeline = newPipeline(client.credential);
pipeline.factories.push({ create: (next) => next });

it.each([
  ['', undefined, /must look like azure:/],
  ['s3://agents', undefined, /must look like azure:/],
  ['azure://key:secret@agents', undefined, /no credentials/],
  ['azure://agents?sig=x', undefined, /unknown parameter. It takes none/],
  ['azure://Agents', undefined, /3 to 63 characters/],
  ['azure://a--b', undefined, /3 to 63 characters/],
  ['azure://agents/..%2Fz', undefined, /cannot be the name/],
  ['azure://agents/n', { name: 'n' }, /leave the option out/],
  [{}, undefined, /needs a ContainerClient/],
  [client, { name: '__proto__' }, /cannot be the name/],
  [client, { nam: 'x' }, /has no option 'nam'/],
  [client, { timeoutMs: -1 }, /timeoutMs/],
  [new ContainerClient('https://account.blob.core.windows.net/agents', pipeline), {}, /request policies of its own/],
])('refuses %s with %j', (target, options, message) => {
  expect(() => new AzureBlobStorage(target as string, options as object)).toThrow(message);
});

it('a client keeps its URL, credential and options, and is not changed', () => {
  const before = JSON.stringify(client.url);
  const made = sendingOnce(client);
  expect(made).not.toBe(client);
  expect([made.url, made.containerName, made.accountName]).toEqual([client.url, 'agents', 'account']);
  expect(made.credential).toBe(client.credential);
  expect(made).toMatchObject({
    pipeline: { options: { userAgentOptions: { userAgentPrefix: 'mine' }, retryOptions: { maxTries: 1 } } },
  });
  expect(client).toMatchObject({ pipeline: { options: { userAgentOptions: { userAgentPrefix: 'mine' } } } });
  expect(client).not.toMatchObject({ pipeline: { options: { retryOptions: { maxTries: 1 } } } });
  expect(JSON.stringify(client.url)).toBe(before);
});
