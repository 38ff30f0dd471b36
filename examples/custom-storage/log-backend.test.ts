import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { asyncStorage, isStorageError } from '@scratchfs/core';
import { backendSuite, fileSystemSuite, storageSuite } from '@scratchfs/testkit';
import { createFileSystem } from 'scratchfs';
import { afterAll, describe, expect, it } from 'vitest';
import { FolderLog } from './folder-log.js';
import { type Log, LogBackend } from './log-backend.js';

// Memory is enough here: the tests kill the process, not the machine.
const scratch = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'scratchfs-custom-storage-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let folders = 0;
const newFolder = () => join(scratch, String(folders++));
const newBackend = (clock?: () => number) => new LogBackend(new FolderLog(newFolder()), clock);
const test = { describe, it };

backendSuite({ test, name: 'The seam of a log', create: () => newBackend() });

storageSuite({
  test,
  name: 'A storage in a log',
  create: ({ clock }) => asyncStorage(newBackend(clock), { clock }),
});

fileSystemSuite({
  test,
  name: 'A filesystem in a log',
  create: ({ clock, limits }) =>
    createFileSystem({ storage: asyncStorage(newBackend(clock), { clock }), clock, limits }),
});

const open = (log: Log) => createFileSystem({ storage: asyncStorage(new LogBackend(log)) });

describe('A log in a folder', () => {
  it('keeps everything when it is opened again', async () => {
    const folder = newFolder();
    const first = await open(new FolderLog(folder));
    await first.mkdir('/a/b', { recursive: true });
    await first.writeFile('/a/b/c.txt', 'hello');
    await first.link('/a/b/c.txt', '/d');
    await first.cp('/a', '/copy', { recursive: true });
    await first.rm('/copy/b/c.txt');
    const { ino: _, ...root } = await first.stat('/');
    const second = await open(new FolderLog(folder));
    expect(await second.stats()).toEqual(await first.stats());
    expect(await second.stat('/')).toMatchObject(root);
    await second.appendFile('/d', ' again');
    expect(await first.readText('/a/b/c.txt')).toBe('hello again');
  });

  it('is shared: concurrent writers lose nothing, and each sees the changes of the others', async () => {
    const folder = newFolder();
    const writers = await Promise.all([1, 2, 3].map(() => open(new FolderLog(folder))));
    await writers[0]?.writeFile('/log', '');
    const lines = writers.flatMap((_, writer) => Array.from({ length: 10 }, (_, i) => `${writer}.${i}`));
    await Promise.all(
      writers.map(async (fs, writer) => {
        for (const line of lines) if (line.startsWith(`${writer}.`)) await fs.appendFile('/log', `${line}\n`);
      }),
    );
    for (const fs of writers) expect((await fs.readLines('/log')).sort()).toEqual(lines.sort());
  });

  it('keeps everything acknowledged, and nothing half done, when the writer is killed', async () => {
    const folder = newFolder();
    for (let round = 0; round < 3; round++) {
      const acknowledged = await writeUntilKilled(folder, 5 + 7 * round);
      const fs = await open(new FolderLog(folder));
      const names = await fs.readdir('/');
      expect(names).toEqual(expect.arrayContaining(acknowledged));
      for (const name of names) expect(await fs.readText(`/${name}/a`)).toBe(await fs.readText(`/${name}/b`));
    }
  });

  it('ignores what a killed writer left unfinished', async () => {
    const folder = newFolder();
    await (await open(new FolderLog(folder))).writeFile('/a', 'one');
    writeFileSync(join(folder, 'half-a-record.new'), 'x');
    expect(await (await open(new FolderLog(folder))).readText('/a')).toBe('one');
  });

  it('is refused if a record is damaged or missing', async () => {
    const folder = newFolder();
    const fs = await open(new FolderLog(folder));
    for (const path of ['/a', '/b', '/c']) await fs.writeFile(path, path);
    const records = readdirSync(folder);
    expect(records).toEqual(['0', '1', '2', '3']);
    for (const name of records) {
      const path = join(folder, name);
      const whole = readFileSync(path);
      for (let at = 0; at < whole.length; at += 5) {
        const damaged = Uint8Array.from(whole);
        damaged[at] = (damaged[at] as number) ^ 0x10;
        writeFileSync(path, damaged);
        expect([at, await refusal(folder)]).toEqual([at, 'corrupt']);
      }
      rmSync(path);
      if (name !== '3') expect([name, await refusal(folder)]).toEqual([name, 'corrupt']);
      writeFileSync(path, whole);
    }
    expect(await refusal(folder)).toBe('none');
  });

  it('settles an operation whose response was lost, also in the next process', async () => {
    const folder = newFolder();
    const meta = { mode: 0o644, uid: 0, gid: 0, atime: 1, mtime: 1, ctime: 1, birthtime: 1 };
    const write = { kind: 'create', path: '/f', id: 'f', type: 'file', meta } as const;
    const checks = [{ kind: 'entry', path: '/f', id: null }] as const;
    const batch = { operationId: 'one', checks, writes: [write], limits: {} };
    expect(await new LogBackend(new FolderLog(folder)).commit(batch)).toMatchObject({ kind: 'ok' });
    const records = readdirSync(folder);
    const again = new LogBackend(new FolderLog(folder));
    expect(await again.outcome('one')).toMatchObject({ kind: 'ok' });
    expect(await again.commit(batch)).toMatchObject({ kind: 'ok' });
    expect(readdirSync(folder)).toEqual(records);
    expect(await again.outcome('two')).toBe('absent');
  });

  it.each([
    ['before the record was added', false],
    ['after it', true],
  ])('applies an operation once, even if the log failed %s', async (_, isAdded) => {
    const log = new FolderLog(newFolder());
    let failures = 0;
    const failing: Log = {
      next: () => log.next(),
      append: async (record) => {
        if (isAdded || failures > 0) await log.append(record);
        if (failures++ < 2) throw new Error('The disk is gone');
      },
    };
    const fs = await open(failing);
    await fs.appendFile('/a', 'x');
    await fs.appendFile('/a', 'y');
    expect(await fs.readText('/a')).toBe('xy');
    expect(failures).toBeGreaterThan(2);
  });
});

describe('The example', () => {
  it('has at most 200 lines in total', () => {
    const files = ['log-backend.ts', 'folder-log.ts'].map((name) =>
      readFileSync(new URL(name, import.meta.url), 'utf8'),
    );
    expect(files.join('').split('\n').length - 1).toBeLessThanOrEqual(200);
  });
});

async function refusal(folder: string): Promise<string> {
  try {
    await (await open(new FolderLog(folder))).stats();
    return 'none';
  } catch (error) {
    return isStorageError(error) ? error.kind : String(error);
  }
}

/** Lets another process create pairs of files until it is killed. Returns the acknowledged ones. */
function writeUntilKilled(folder: string, count: number): Promise<string[]> {
  const here = fileURLToPath(new URL('.', import.meta.url));
  const script = `
    import { asyncStorage } from '@scratchfs/core';
    import { createFileSystem } from 'scratchfs';
    import { FolderLog } from './folder-log.ts';
    import { LogBackend } from './log-backend.ts';
    const fs = await createFileSystem({ storage: asyncStorage(new LogBackend(new FolderLog(process.argv[1]))) });
    for (let i = (await fs.readdir('/')).length; ; i++) {
      await fs.transaction(async (tx) => {
        await tx.mkdir('/' + i);
        await tx.writeFile('/' + i + '/a', String(i));
        await tx.writeFile('/' + i + '/b', String(i));
      });
      process.stdout.write(i + '\\n');
    }`;
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const args = ['--conditions=@scratchfs/source', '--import', loader, '--input-type=module', '-e', script, folder];
  const child = spawn(process.execPath, args, { cwd: here, stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.split('\n').length > count) child.kill('SIGKILL');
    });
    child.on('error', reject);
    child.on('close', (_, signal) => {
      const lines = output.split('\n').slice(0, -1);
      if (signal === 'SIGKILL') resolve(lines);
      else reject(new Error(`The writer ended by itself after ${lines.length} steps`));
    });
  });
}
