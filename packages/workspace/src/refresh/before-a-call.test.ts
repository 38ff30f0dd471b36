import { existsSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFileSystem, type SyncFileSystem } from 'scratchfs';
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Attempt } from '../attempt-types.js';
import { Directories } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
const text = Array.from({ length: 12 }, (_, i) => `line ${i + 1}\n`).join('');
let disk: string;
let store: SyncFileSystem;
let attempt: Attempt;

beforeEach(async () => {
  disk = directories.directory({
    a: text,
    l: '-> a',
    d: '-> src',
    'src/0': 'old\n',
    'src/same': 'same\n',
    'lib/x': 'x\n',
  });
  store = createFileSystem();
  const workspace = await openWorkspace(disk, { store });
  attempt = await workspace.attempt();
  return () => workspace.close();
});
afterAll(() => directories.remove());

const read = (path: string) =>
  attempt.labelled({}, () => attempt.fileSystem.readText(path), { isSingleCall: true, paths: [path] });
const edit = (path: string, from: string, to: string) => attempt.operation({}, (fs) => fs.editFile(path, from, to));
const person = (name: string, from: string, to: string): void =>
  writeFileSync(join(disk, name), text.replace(from, to));

function latch(): [Promise<void>, () => void] {
  let open = (): void => {};
  return [
    new Promise<void>((resolve) => {
      open = resolve;
    }),
    () => open(),
  ];
}

describe('the comparison before a call', () => {
  it('waits for a running accept only at a path that the attempt has changed', async () => {
    await attempt.operation({}, async (fs) => {
      await fs.writeFile('/src/0', 'new\n');
      await fs.rename('/lib', '/moved');
    });
    const [held, release] = latch();
    const [hasBegun, begin] = latch();
    const writeFile = store.writeFile.bind(store);
    store.writeFile = async (path, ...rest) => {
      begin();
      await held;
      return writeFile(path, ...rest);
    };
    onTestFinished(release);
    const accept = attempt.accept();
    await hasBegun;
    let ended = 0;
    const changed = ['/src/0', '/d/0', '/moved/x'].map((path) => read(path).finally(() => ended++));
    expect((await read('/src/same')).value).toBe('same\n');
    expect((await read('/d/same')).value).toBe('same\n');
    expect((await read('/a')).value).toBe(text);
    expect(ended).toBe(0);
    release();
    expect((await Promise.all(changed)).map(({ value }) => value)).toEqual(['new\n', 'new\n', 'x\n']);
    expect((await accept).success).toBe(true);
  });

  it('waits for a running accept at a path that a symlink leads to in a moved directory', async () => {
    symlinkSync('moved', join(disk, 'm'));
    await attempt.operation({}, (fs) => fs.rename('/lib', '/moved'));
    const [held, release] = latch();
    const [isWritten, written] = latch();
    const mkdir = store.mkdir.bind(store);
    store.mkdir = async (...given) => {
      if (!existsSync(join(disk, 'lib/x'))) {
        written();
        await held;
      }
      return mkdir(...given);
    };
    onTestFinished(release);
    const accept = attempt.accept();
    await isWritten;
    let hasEnded = false;
    const value = read('/m/x')
      .then((result) => result.value, String)
      .finally(() => (hasEnded = true));
    for (let i = 0; i < 3; i++) await read('/src/same');
    expect(hasEnded).toBe(false);
    release();
    expect(await value).toBe('x\n');
    expect((await accept).success).toBe(true);
  });

  it('sees what the person has done to the file that a symlink leads to', async () => {
    await edit('/a', 'line 1\n', 'agent 1\n');
    person('a', 'line 12', 'person 12');
    const { value, refreshed } = await read('/l');
    expect([value.includes('agent 1'), value.includes('person 12')]).toEqual([true, true]);
    expect(refreshed.merged).toEqual(['/a']);
  });

  it('sees it through a symlink to a directory, and makes a new file through one', async () => {
    await edit('/src/0', 'old', 'agent');
    renameSync(join(disk, 'src/0'), join(disk, 'src/gone'));
    expect((await read('/d/0')).refreshed.conflicts).toMatchObject([{ path: '/src/0', code: 'removed' }]);
    const write = () => attempt.fileSystem.writeFile('/d/new', 'n');
    const { operations } = await attempt.labelled({}, write, { paths: ['/d/new'] });
    expect(operations[0]?.changes).toMatchObject([{ path: '/src/new' }]);
  });
});
