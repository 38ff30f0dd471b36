import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileSystem, type SyncFileSystem } from 'scratchfs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openWorkspace } from '../workspace.js';
import type { Workspace } from '../workspace-types.js';
import { seal } from './operation-record.js';

let directory: string;
let store: SyncFileSystem;
const open: Workspace[] = [];

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'two-clients-')));
  writeFileSync(join(directory, 'a.txt'), 'a\n');
  store = createFileSystem();
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  rmSync(directory, { recursive: true, force: true });
});

async function opened(): Promise<Workspace> {
  const workspace = await openWorkspace(directory, { store });
  open.push(workspace);
  return workspace;
}

const operations = '/attempts/one/operations';

describe('two clients on one attempt', () => {
  it('lose no change, and agree on the log', async () => {
    const first = await (await opened()).createAttempt('one');
    const second = await (await opened()).attempt('one');
    const both = [first, second];
    await Promise.all(
      both.map(async ({ fileSystem }, i) => {
        for (let n = 0; n < 20; n++) {
          await fileSystem.appendFile('/shared', `${i}.${n}\n`);
          await fileSystem.writeFile(`/own${i}.${n}`, '');
        }
      }),
    );
    for (const attempt of both) {
      expect(await attempt.head()).toBe(80);
      expect(new Set(await attempt.fileSystem.readLines('/shared')).size).toBe(40);
      expect((await attempt.fileSystem.readdir('/')).length).toBe(42);
    }
    const [a, b] = await Promise.all(both.map((attempt) => attempt.log({ limit: 80 })));
    expect(a).toEqual(b);
    for (let n = 0; n < 80; n++) await both[n % 2]?.undo();
    for (const { fileSystem } of both) expect(await fileSystem.readdir('/')).toEqual(['a.txt']);
  });

  it('take each operation once, also if concurrent reads of the log end in another order', async () => {
    const first = await (await opened()).createAttempt('one');
    await first.fileSystem.mkdir('/d');
    let held: (() => void) | undefined;
    let isHeld = false;
    const slow = new Proxy(store, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (key === 'readText')
          return async (path: string) => {
            const text = await target.readText(path);
            if (path === `${operations}/000000002` && !isHeld) {
              isHeld = true;
              await new Promise<void>((resolve) => {
                held = resolve;
              });
            }
            return text;
          };
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const workspace = await openWorkspace(directory, { store: slow });
    open.push(workspace);
    const second = await workspace.attempt('one');
    await first.fileSystem.writeFile('/d/f', '1');
    const early = second.head();
    await expect.poll(() => held).toBeDefined();
    await first.fileSystem.rm('/d', { recursive: true });
    expect(await second.head()).toBe(3);
    held?.();
    expect(await early).toBe(3);
    expect((await second.steps('undo')).map(({ id }) => id)).toEqual([3, 2, 1]);
  });

  it('do not undo what they have not seen', async () => {
    const first = await (await opened()).createAttempt('one');
    const second = await (await opened()).attempt('one');
    await first.fileSystem.writeFile('/x', '1');
    await second.fileSystem.writeFile('/y', '2');
    await expect(first.undo({ expect: 1 })).rejects.toMatchObject({ code: 'moved' });
    expect(await first.undo({ expect: 2 })).toMatchObject({ target: 2 });
    expect(await second.fileSystem.exists('/y')).toBe(false);
  });
});

describe('a log that is not as it was written', () => {
  beforeEach(async () => {
    const { fileSystem } = await (await opened()).createAttempt('one');
    for (let n = 1; n <= 3; n++) await fileSystem.writeFile('/n', String(n));
  });

  it('is refused by the number of a damaged operation, and nothing is changed', async () => {
    const path = `${operations}/000000002`;
    const text = store.readTextSync(path);
    store.writeFileSync(path, text.replace('"edit"', '"EDIT"'));
    await expect((await opened()).attempt('one')).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining('Operation 2 of attempt one'),
    });
    store.writeFileSync(path, text);
    expect(await (await (await opened()).attempt('one')).fileSystem.readText('/n')).toBe('3');
  });

  it('is refused if an operation is missing', async () => {
    store.rmSync(`${operations}/000000002`);
    await expect((await opened()).attempt('one')).rejects.toMatchObject({ kind: 'corrupt' });
  });

  it('is refused if a newer version has written it', async () => {
    store.writeFileSync(`${operations}/000000003`, seal({ format: 99 }));
    await expect((await opened()).attempt('one')).rejects.toMatchObject({
      code: 'foreign-store',
      message: expect.stringContaining('newer version'),
    });
  });

  it('reports a content that is missing or damaged, and shows the rest', async () => {
    const [hash] = (await (await (await opened()).attempt('one')).log()).operations.flatMap(({ changes }) =>
      changes.map(({ after }) => (after !== null && after !== 'disk' ? (after.hash as string) : '')),
    );
    store.writeFileSync(`/contents/${hash?.[0]}/${hash?.[1]}/${hash}`, 'other');
    const { fileSystem } = await (await opened()).attempt('one');
    await expect(fileSystem.readText('/n')).rejects.toMatchObject({ kind: 'corrupt' });
    expect(await fileSystem.readText('/a.txt')).toBe('a\n');
  });
});

describe('a single call', () => {
  it('looks at the log once, and sees what others have appended before it', async () => {
    const attempt = await (await opened()).createAttempt('one');
    const other = await (await opened()).attempt('one');
    let looks = 0;
    const readText = store.readText.bind(store);
    store.readText = (path: string, ...rest: never[]) => {
      if (String(path).startsWith(operations)) looks += 1;
      return readText(path, ...rest);
    };
    const { fileSystem } = attempt;
    const call = async (isSingleCall: boolean) => {
      const before = looks;
      const work = async () => [await fileSystem.readText('/a.txt'), await fileSystem.exists('/x')];
      const { value } = await attempt.labelled({}, work, { isSingleCall });
      return [...value, looks - before];
    };
    expect(await call(false)).toEqual(['a\n', false, 2]);
    expect(await call(true)).toEqual(['a\n', false, 1]);
    await other.fileSystem.writeFile('/x', '1');
    expect(await call(true)).toEqual(['a\n', true, 2]);
    const { operations: made } = await attempt.labelled(
      { tool: 'edit' },
      async () => {
        await fileSystem.readText('/x');
        await other.fileSystem.writeFile('/x', '2');
        await fileSystem.appendFile('/x', '3');
        return fileSystem.readText('/x');
      },
      { isSingleCall: true },
    );
    expect(made.at(-1)).toMatchObject({ id: 3, tool: 'edit' });
    expect(await fileSystem.readText('/x')).toBe('23');
  });
});

it('a past state reads the log once', async () => {
  const attempt = await (await opened()).createAttempt('one');
  await attempt.fileSystem.writeFile('/x', '1');
  await attempt.fileSystem.writeFile('/x', '2');
  const past = attempt.at(1);
  expect(await past.readText('/x')).toBe('1');
  const reads = vi.spyOn(store, 'readText');
  expect(await past.readText('/a.txt')).toBe('a\n');
  expect(await past.exists('/none')).toBe(false);
  expect(reads.mock.calls.filter(([path]) => String(path).startsWith(operations))).toEqual([]);
});
