import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openFileSystem } from '@scratchfs/core';
import { DiskStorage } from '@scratchfs/disk';
import { describe, expect, it } from 'vitest';
import { PendingAccepts } from '../../packages/workspace/src/accept/pending-accept.js';
import { mountSmallDisk, unmountSmallDisk, whyNoDisk } from '../attacks/small-disk.js';
import { PROGRAM } from './bundle.js';
import { ENVIRONMENT, folder, ok, run } from './program.js';
import { repository } from './repository.js';

const noDisk = whyNoDisk();

describe('a directory', () => {
  it.skipIf(noDisk !== undefined)(
    `on a full disk gets all of a command or nothing (${noDisk ?? 'a disk of 1 MB'})`,
    async () => {
      const place = folder('small');
      mountSmallDisk(place);
      try {
        const cwd = join(place, 'project');
        mkdirSync(cwd);
        writeFileSync(join(cwd, 'a.txt'), 'old');
        const bytes = new Uint8Array(600_000);
        await ok(['fs', 'put', '-', 'one'], { cwd, input: bytes });
        await ok(['fs', 'put', '-', 'two'], { cwd, input: bytes });
        await ok(['fs', 'write', 'a.txt', 'new'], { cwd });
        for (const args of [['accept'], ['export', 'tar', 'a.tar'], ['export', 'snapshot', 'a.snapshot']]) {
          const { code, stderr } = await run(args, { cwd });
          expect({ args, code, stderr }).toEqual({ args, code: 1, stderr: expect.stringContaining('Free some space') });
          expect([readdirSync(cwd), readFileSync(join(cwd, 'a.txt'), 'utf8')]).toEqual([['a.txt'], 'old']);
        }
        const put = (name: string) => run(['fs', 'put', '-', name, '--store', '.'], { cwd, input: bytes });
        expect(await put('one')).toMatchObject({ code: 0 });
        expect(await put('two')).toMatchObject({ code: 1, stderr: expect.stringContaining('Free some space') });
        expect(readdirSync(cwd).sort()).toEqual(['a.txt', 'one']);
        rmSync(join(cwd, 'one'));
        await ok(['accept', '--', 'a.txt', 'one'], { cwd });
        expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('new');
      } finally {
        unmountSmallDisk(place);
      }
    },
  );
});

describe('a command that fills a new directory or file', () => {
  it.skipIf(noDisk !== undefined)(
    `leaves nothing on a full disk, or says what it left (${noDisk ?? 'a disk of 1 MB'})`,
    async () => {
      const cwd = folder('source');
      mkdirSync(join(cwd, 'd'));
      for (let index = 0; index < 40; index++) writeFileSync(join(cwd, 'd', `f${index}`), randomBytes(50_000));
      writeFileSync(join(cwd, 'big'), randomBytes(1_500_000));
      await ok(['copy', '.', 'all.snapshot'], { cwd: join(cwd, 'd') });
      const archive = join(cwd, 'd', 'all.snapshot');
      const place = folder('small');
      mountSmallDisk(place);
      try {
        const at = (name: string): string => join(place, name);
        for (const [args, left, said = 'Nothing was written'] of [
          [['fs', 'get', 'big', at('big'), '--store', '.'], []],
          [['fs', 'get', 'd', at('d'), '--store', '.'], []],
          [['export', 'git', at('d.git'), '--store', '.'], []],
          [['export', 'tar', at('a.tar'), '--store', '.'], []],
          [['copy', '.', at('a.snapshot')], []],
          [['copy', '.', at('copy')], ['copy'], 'Repeat the command: it begins again'],
          [
            ['import', 'snapshot', archive, '--store', at('imported')],
            ['imported'],
            'Some files may have been written',
          ],
        ] as const) {
          if (args[0] === 'import') mkdirSync(at('imported'));
          const { code, stderr } = await run(args, { cwd });
          expect({ args, code, stderr }).toEqual({ args, code: 1, stderr: expect.stringContaining('Free some space') });
          expect(stderr).toContain(said);
          expect(readdirSync(place)).toEqual(left);
          rmSync(join(place, left[0] ?? 'none'), { recursive: true, force: true });
        }
        mkdirSync(at('there'));
        expect(await run(['fs', 'get', '/', at('there'), '--store', '.'], { cwd })).toMatchObject({
          code: 1,
          stderr: expect.stringContaining(`No space is left for ${at('there')}. Some files may have been written`),
        });
      } finally {
        unmountSmallDisk(place);
      }
    },
  );

  it.each(['fs get', 'export git'])('leaves nothing when Ctrl-C ends %s', async (command) => {
    const cwd = folder('source');
    mkdirSync(join(cwd, 'd'));
    for (let index = 0; index < 3_000; index++) writeFileSync(join(cwd, 'd', `f${index}`), `${index}\n`.repeat(300));
    const place = folder('target');
    const parent = join(place, 'new', 'parents');
    const args = command === 'fs get' ? ['d', join(parent, 'd')] : [join(parent, 'd')];
    /** Starts the command, and presses Ctrl-C as soon as it writes. Returns its exit code; 0 if it was faster. */
    const interrupted = async (): Promise<unknown> => {
      const child = spawn(process.execPath, [PROGRAM, ...command.split(' '), ...args, '--store', '.'], {
        cwd,
        env: ENVIRONMENT,
      });
      const closed = once(child, 'close');
      let names: readonly string[] = [];
      for (; names.length === 0 && child.exitCode === null; await sleep(5))
        names = existsSync(parent) ? readdirSync(parent) : [];
      const unfinished = statSync(join(parent, names[0] ?? ''), { throwIfNoEntry: false });
      child.kill('SIGINT');
      const [code] = await closed;
      if (existsSync(join(parent, 'd'))) return 0;
      expect(names).toEqual([expect.stringMatching(/^d\.\w{12}\.tmp$/)]);
      if (command === 'fs get') expect((unfinished?.mode ?? 0) & 0o777, 'private until it is whole').toBe(0o700);
      return code;
    };
    let code: unknown = 0;
    for (let attempt = 0; attempt < 10 && code === 0; attempt++) {
      rmSync(join(place, 'new'), { recursive: true, force: true });
      code = await interrupted();
    }
    expect(code).toBe(130);
    expect(readdirSync(place)).toEqual([]);
  });
});

describe('a store', () => {
  it.skipIf(noDisk !== undefined)(
    `on a full disk loses nothing and says so (${noDisk ?? 'a disk of 1 MB'})`,
    async () => {
      const cwd = repository();
      const state = folder('small');
      const env = { XDG_STATE_HOME: state };
      mountSmallDisk(state);
      try {
        await ok(['fs', 'write', 'a', 'first'], { cwd, env });
        expect(() => writeFileSync(join(state, 'fill'), new Uint8Array(2 ** 21))).toThrow('ENOSPC');
        for (const args of [['fs', 'write', 'a', 'second'], ['undo'], ['fork', 'x'], ['accept']]) {
          const { code, stderr } = await run(args, { cwd, env });
          expect({ args, code, stderr }).toEqual({ args, code: 1, stderr: expect.stringContaining('free some space') });
        }
        expect(await ok(['fs', 'cat', 'a'], { cwd, env })).toBe('first');
        rmSync(join(state, 'fill'));
        await ok(['undo'], { cwd, env });
        await ok(['redo'], { cwd, env });
        expect(await ok(['fs', 'cat', 'a'], { cwd, env })).toBe('first');
      } finally {
        unmountSmallDisk(state);
      }
    },
  );

  it('whose lock a process that hangs holds is given up soon, and is written as soon as that process has ended', async () => {
    const cwd = folder('locked');
    const store = ['--store', 'sqlite:./agents.db?name=one'];
    await ok(['fs', 'write', 'a', 'first', ...store], { cwd });
    const { resolve } = createRequire(new URL('../../packages/cli/package.json', import.meta.url));
    const code = `const Database = require(${JSON.stringify(resolve('libsql'))});
      new Database('agents.db').exec('BEGIN IMMEDIATE'); console.log('held'); setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ['-e', code], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await new Promise((done) => holder.stdout.once('data', done));
      holder.kill('SIGSTOP');
      const started = performance.now();
      const failed = await run(['fs', 'write', 'a', 'second', ...store], { cwd });
      expect(failed).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('end that process, or try again later'),
      });
      expect(performance.now() - started).toBeLessThan(60_000);
      const writing = ok(['fs', 'write', 'b', 'third', ...store], { cwd });
      holder.kill('SIGKILL');
      await writing;
    } finally {
      holder.kill('SIGKILL');
    }
    expect(await ok(['fs', 'cat', 'a', 'b', ...store], { cwd })).toBe('firstthird');
  });

  it('in which another process accepts refuses a second accept, and takes writes', async () => {
    const cwd = repository();
    const store = folder('store');
    const where = ['--store', store, '--attempt', 'one'];
    await ok(['fork', 'one', '--store', store], { cwd });
    await ok(['fs', 'write', 'new.txt', 'new\n', ...where], { cwd });
    const storage = new DiskStorage(`file://${store}`);
    const fileSystem = await openFileSystem(storage);
    const pending = new PendingAccepts(fileSystem, '/attempts/one/accept', cwd);
    const note = pending.note();
    await note.begin({ tool: 'accept', actor: 'user', summary: 'Accept', writes: [], after: 1 });
    const second = await run(['accept', ...where], { cwd });
    expect(second).toMatchObject({ code: 4, stderr: expect.stringContaining('wait until it is done') });
    await ok(['fs', 'write', 'more.txt', 'more\n', ...where], { cwd });
    await note.end();
    await ok(['accept', ...where], { cwd });
    expect(readdirSync(cwd).sort()).toEqual(['.git', 'b.txt', 'more.txt', 'new.txt', 'src']);
    await fileSystem.close();
    await storage.close();
  });

  it('of another workspace is refused, and so is one that an agent could change', async () => {
    const [cwd, other] = [repository(), repository()];
    const store = folder('store');
    await ok(['fork', 'mine', '--store', store], { cwd });
    const { code, stderr } = await run(['fork', 'theirs', '--store', store], { cwd: other });
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining(`belongs to the workspace '${cwd}'`) });
    expect(await ok(['attempts', '--names', '--store', store], { cwd })).toBe('mine\n');
    for (const inside of ['./store', 'sqlite:./agents.db', `file://${cwd}/store`])
      expect(await run(['fork', 'x', '--store', inside], { cwd })).toMatchObject({ code: 4 });
    expect(readdirSync(cwd).sort()).toEqual(['.git', 'b.txt', 'src']);
  });
});
