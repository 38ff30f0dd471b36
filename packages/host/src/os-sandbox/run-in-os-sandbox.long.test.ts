import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileSystem } from '@scratchfs/core';
import { observe } from '@scratchfs/core/layers';
import { MemoryStorage } from '@scratchfs/memory';
import { Sandbox, type SandboxConfig, SandboxPermissionEscalationError } from '@scratchfs/sandbox';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { runInOsSandbox } from '../index.js';
import { bundled } from '../testing/bundled.js';
import { findBubblewrap } from './bubblewrap.js';

const isThere = ((): boolean => {
  try {
    findBubblewrap();
    return true;
  } catch {
    return false;
  }
})();
const top = mkdtempSync(join(tmpdir(), 'scratchfs-os-test-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

async function sandboxOf(files: Record<string, string>, config: SandboxConfig = { root: { root: '/' } }) {
  const fs = await openFileSystem(new MemoryStorage(), { files });
  return { fs, sandbox: new Sandbox(fs, config) };
}

const perl = '/usr/bin/perl';

/** Numbers of `ioctl`, `add_key`, `request_key` and `keyctl`. */
const CALLS = process.arch === 'arm64' ? [29, 217, 218, 219] : [16, 248, 249, 250];

/** Adds a key to the session keyring, then executes the program that is given as arguments. */
const WITH_KEY = `
($join, $add) = @ARGV[0, 1];
($type, $name, $payload) = ('user', 'CANARY-name', 'CANARY-payload');
syscall($join, 1, 0);
syscall($add, $type, $name, $payload, length $payload, -3);
exec @ARGV[2 .. $#ARGV];
`;

/** Prints the error number of each denied system call, of an allowed ioctl, and of getpid by the convention of x32. */
const DENIED = `
($ioctl, $add, $request, $keyctl) = @ARGV;
($type, $name, $text) = ('user', 'CANARY-name', 'x' x 100);
for ([$keyctl, 0, -3, 0], [$keyctl, 11, syscall($request, $type, $name, 0, 0), $text, 100],
  [$add, $type, $name, $text, 1, -3], [$request, $type, $name, 0, 0],
  [$ioctl, 0, 0x5412, $text], [$ioctl, 0, 0x541c, $text], [$ioctl, 0, 0x5401, $text], [0x40000027]) {
  $! = 0;
  my @call = @$_;
  syscall(shift @call, @call) == -1 or print 'allowed ';
  print $! + 0, ' ';
}
print $text;
`;

const NOTHING = { added: [], removed: [], changed: [], addedDirectories: [], removedDirectories: [] };

// Skipped without bubblewrap, which exists only for Linux and has to be installed. On a build server that is a failure.
describe.skipIf(!isThere && !process.env['CI'])('runInOsSandbox() (needs bubblewrap)', () => {
  it('runs a command on a copy and brings its changes back, and the checkpoint undoes them', async () => {
    const { fs, sandbox } = await sandboxOf({ '/src/a.txt': 'one\n', '/src/gone': 'x', '/src/same': 's' });
    const folder = mkdtempSync(join(top, 'copies-'));
    for (const directory of [top, folder]) chmodSync(directory, 0o755);
    vi.stubEnv('TMPDIR', folder);
    const result = await runInOsSandbox(
      sandbox,
      'cat src/a.txt; echo two >src/a.txt; rm src/gone; mkdir -p new; echo x >new/b; ln -s b new/link; chmod +x src/same; exit 3',
    );
    expect(result).toMatchObject({ exitCode: 3, stdout: 'one\n', stderr: '', stopped: undefined, refused: [] });
    expect(result.changes).toEqual({
      added: ['/new/b', '/new/link'],
      removed: ['/src/gone'],
      changed: ['/src/a.txt', '/src/same'],
      addedDirectories: ['/new'],
      removedDirectories: [],
    });
    expect(await fs.readText('/src/a.txt')).toBe('two\n');
    expect(await fs.readlink('/new/link')).toBe('b');
    expect((await fs.stat('/src/same')).mode & 0o111).toBe(0o111);
    expect(await fs.exists('/src/gone')).toBe(false);
    await sandbox.fileSystem.rollback(result.checkpoint as NonNullable<typeof result.checkpoint>);
    expect(await fs.readText('/src/a.txt')).toBe('one\n');
    expect(await fs.exists('/new')).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('shows only readable paths, and brings back only changes of writable paths', async () => {
    const { fs, sandbox } = await sandboxOf(
      { '/notes/a.md': 'a', '/notes/key.pem': 'secret', '/lib/l.md': 'l', '/other/x': 'secret' },
      { paths: { notes: { root: '/notes', mode: 'rw', suffixes: ['.md'] }, lib: { root: '/lib', mode: 'ro' } } },
    );
    const script =
      'find . -type f | sort; cat /other/x ../other/x notes/key.pem; echo b >notes/b.md; echo p >notes/new.pem; echo x >lib/l.md; echo x >top';
    const { stdout, stderr, changes, refused } = await runInOsSandbox(sandbox, script);
    expect(stdout).toBe('./lib/l.md\n./notes/a.md\n');
    expect(stderr.match(/Read-only file system/g)).toHaveLength(2);
    expect(changes).toEqual({ ...NOTHING, added: ['notes/b.md'] });
    expect(refused.map(({ path }) => path)).toEqual(['notes/new.pem']);
    expect(refused[0]?.reason).toMatch(/ 'notes\/new\.pem'/);
    expect(await fs.readText('/lib/l.md')).toBe('l');
    expect(await fs.exists('/notes/new.pem')).toBe(false);
  });

  it('does not overwrite concurrent changes of another client', async () => {
    const fs = await openFileSystem(new MemoryStorage(), { files: { '/a': 'one', '/b': 'one' } });
    // The checkpoint is made when the command has ended, and before anything is brought back.
    const others = observe(fs, ({ operation }) => {
      if (operation !== 'checkpoint') return;
      for (const path of ['/a', '/b']) fs.writeFileSync(path, 'mine');
    });
    const sandbox = new Sandbox(others, { root: { root: '/' } });
    const { refused, changes } = await runInOsSandbox(sandbox, 'echo two >a; rm b');
    expect(refused.map(({ path }) => path).sort()).toEqual(['/a', '/b']);
    expect(changes).toEqual(NOTHING);
    expect(await fs.readText('/a')).toBe('mine');
  });

  it('brings changes back if no more checkpoints are allowed, and keeps none that the caller cannot use', async () => {
    const fs = await openFileSystem(new MemoryStorage(), { files: { '/a': '0' }, limits: { maxCheckpoints: 1 } });
    const sandbox = new Sandbox(fs, { paths: { n: { root: '/', mode: 'rw', suffixes: ['', '.md'] } } });
    const all = await runInOsSandbox(sandbox, 'echo 1 >n/x.txt');
    expect(all).toMatchObject({ changes: NOTHING, refused: [{ path: 'n/x.txt' }], checkpoint: undefined });
    const abort = new AbortController();
    const leaving = observe(fs, ({ operation }) => {
      if (operation === 'checkpoint') abort.abort();
    });
    const root = { root: { root: '/' } } as const;
    const aborted = runInOsSandbox(new Sandbox(leaving, root), 'echo 1 >a', { signal: abort.signal });
    await expect(aborted).rejects.toThrow(/abort/i);
    expect(await fs.checkpoints()).toEqual([]);
    const whole = new Sandbox(fs, root);
    expect((await runInOsSandbox(whole, 'echo 2 >a')).checkpoint).toBeDefined();
    expect((await runInOsSandbox(whole, 'echo 3 >a')).checkpoint).toBeUndefined();
    expect(await fs.readText('/a')).toBe('3\n');
  });

  it('brings back directories that were made, removed or replaced', async () => {
    const files = { '/file/x': 'x', '/link/sub/x': 'x', '/gone/sub/x': 'x', '/emptied/x': 'x', '/was-file': 'x' };
    const { fs, sandbox } = await sandboxOf(files);
    const script =
      'rm -r file; echo f >file; mv link to; ln -s to link; rm -r gone; rm emptied/x; mkdir -p new/sub; rm was-file; mkdir was-file; echo 1 >was-file/x';
    const { changes, refused } = await runInOsSandbox(sandbox, script);
    expect(refused).toEqual([]);
    expect(changes).toEqual({
      added: ['/file', '/link', '/to/sub/x', '/was-file/x'],
      removed: ['/emptied/x', '/file/x', '/gone/sub/x', '/link/sub/x', '/was-file'],
      changed: [],
      addedDirectories: ['/new', '/new/sub', '/to', '/to/sub', '/was-file'],
      removedDirectories: ['/file', '/gone', '/gone/sub', '/link', '/link/sub'],
    });
    expect(await fs.readText('/file')).toBe('f\n');
    expect(await fs.readText('/link/sub/x')).toBe('x');
    expect(await fs.readdir('/')).toEqual(['emptied', 'file', 'link', 'new', 'to', 'was-file']);
    expect(await fs.readdir('/new')).toEqual(['sub']);
    expect(await fs.readdir('/emptied')).toEqual([]);
  });

  it('keeps a directory that holds files hidden from the command, or that became a pipe', async () => {
    const { fs, sandbox } = await sandboxOf(
      { '/notes/d/a.md': 'a', '/notes/d/key.pem': 'secret', '/notes/p/a.md': 'a' },
      { root: { root: '/notes', suffixes: ['.md'] } },
    );
    const { changes, refused } = await runInOsSandbox(sandbox, 'rm -r d p; ln -s /x d; mkfifo p');
    expect(changes).toEqual({ ...NOTHING, removed: ['/d/a.md'] });
    expect(refused.map(({ path }) => path)).toEqual(['/p', '/d', '/d']);
    expect(refused.map(({ reason }) => reason).join('\n')).not.toContain('Somebody else');
    expect(await fs.readdir('/notes/d')).toEqual(['key.pem']);
    expect(await fs.readdir('/notes/p')).toEqual(['a.md']);
  });

  it('shows absolute links with the paths of the command, and brings them back with those of the filesystem', async () => {
    const { fs, sandbox } = await sandboxOf(
      { '/p/notes/a.md': 'a\n', '/p/lib/l.md': 'l\n' },
      { paths: { notes: { root: '/p/notes', mode: 'rw' }, lib: { root: '/p/lib', mode: 'ro' } } },
    );
    const links = { absolute: '/p/lib/l.md', same: '/p/notes/a.md', out: '/etc/passwd' };
    for (const [name, target] of Object.entries(links)) await fs.symlink(target, `/p/notes/${name}`);
    const { stdout, changes, refused } = await runInOsSandbox(
      sandbox,
      'cd notes; cat absolute same; mv absolute moved; ln -s /work/notes/a.md made; ln -s /work/none/x nowhere; ln -s /work none; ln -s a.md near',
    );
    expect(stdout).toBe('l\na\n');
    expect(changes).toEqual({
      ...NOTHING,
      added: ['notes/made', 'notes/moved', 'notes/near'],
      removed: ['notes/absolute'],
    });
    expect(refused.map(({ path }) => path).sort()).toEqual(['notes/none', 'notes/nowhere']);
    expect(await fs.readlink('/p/notes/moved')).toBe('/p/lib/l.md');
    expect(await fs.readlink('/p/notes/made')).toBe('/p/notes/a.md');
    expect(await fs.readlink('/p/notes/near')).toBe('a.md');
    expect(await fs.readlink('/p/notes/out')).toBe('/etc/passwd');
  });

  it('refuses a link whose target is not UTF-8, and leaves the previous entry', async () => {
    const { fs, sandbox } = await sandboxOf({ '/a': 'one' });
    const script = 'for name in a new; do ln -sf "$(printf \'\\377\')" $name; done';
    const { changes, refused } = await runInOsSandbox(sandbox, script);
    expect(changes).toEqual(NOTHING);
    expect(refused.map(({ path }) => path).sort()).toEqual(['/a', '/new']);
    expect(await fs.readdir('/')).toEqual(['a']);
    expect(await fs.readText('/a')).toBe('one');
  });

  it.each([
    ['a file for a link', 'rm link; head -c 5000 /dev/zero >link', 'link'],
    ['a link for a link', 'ln -sf "$(head -c 3000 /dev/zero | tr "\\0" x)" link', 'link'],
    ['a link for a file', 'ln -sf "$(head -c 3000 /dev/zero | tr "\\0" x)" a', 'a'],
  ])('keeps the previous entry if the filesystem has no space for %s', async (_, script, path) => {
    const fs = await openFileSystem(new MemoryStorage(), { files: { '/a': 'one' }, limits: { maxTotalSize: 2_000 } });
    await fs.chmod('/a', 0o640);
    await fs.symlink('a', '/link');
    const { changes, refused } = await runInOsSandbox(new Sandbox(fs, { root: { root: '/' } }), script);
    expect({ changes, refused }).toEqual({
      changes: NOTHING,
      refused: [{ path: `/${path}`, reason: expect.stringContaining('ENOSPC') }],
    });
    expect(await fs.readlink('/link')).toBe('a');
    expect(await fs.readText('/a')).toBe('one');
    expect((await fs.lstat('/a')).mode & 0o777).toBe(0o640);
  });

  it('follows no link that the command leaves, and brings back no pipes', async () => {
    const { fs, sandbox } = await sandboxOf({ '/dir/a': 'one' });
    const secret = join(top, 'secret');
    writeFileSync(secret, 'secret');
    const script = `rm -r dir; ln -s ${top} dir; ln -s /etc/passwd passwd; mkfifo pipe; ln /work/passwd again 2>/dev/null; true`;
    const { changes, refused } = await runInOsSandbox(sandbox, script);
    expect(changes.removed).toEqual(['/dir/a']);
    expect(changes.added).toContain('/passwd');
    expect(refused.map(({ path }) => path)).toContain('/pipe');
    expect(await fs.readlink('/passwd')).toBe('/etc/passwd');
    expect(await fs.exists('/passwd')).toBe(false);
  });

  it.each([
    ['timeout', 'sleep 60', { timeoutMs: 300 }],
    ['output', 'yes', { limits: { outputBytes: 10_000 } }],
    ['memory', 'echo x >a; exec tail /dev/zero', { limits: { memoryBytes: 32 * 2 ** 20 } }],
  ] as const)('ends a command at its limit of %s, and takes nothing of it', async (why, script, options) => {
    const { fs, sandbox } = await sandboxOf({ '/a': 'one' });
    const { stopped, exitCode, changes, stdout } = await runInOsSandbox(sandbox, `echo two >a; ${script}`, options);
    // The kernel may also refuse memory to such a process, which then ends by itself.
    if (why !== 'memory' || stopped !== undefined) {
      expect({ stopped, exitCode }).toEqual({ stopped: why, exitCode: null });
      expect(changes.changed).toEqual([]);
      expect(await fs.readText('/a')).toBe('one');
    } else expect(exitCode).not.toBe(0);
    expect(stdout.length).toBeLessThanOrEqual(10_000);
  });

  it.each(['/tmp', '/dev/shm'])('counts files in %s as memory', async (directory) => {
    const { fs, sandbox } = await sandboxOf({ '/a': 'one' });
    const fill = (mib: number, seconds: number): string =>
      `echo two >a; head -c ${mib * 2 ** 20} /dev/zero >${directory}/x; sleep ${seconds}`;
    const limits = { memoryBytes: 64 * 2 ** 20 };
    expect((await runInOsSandbox(sandbox, fill(20, 1), { limits })).stopped).toBe(undefined);
    expect(await fs.readText('/a')).toBe('two\n');
    const { stopped, changes } = await runInOsSandbox(sandbox, `rm a; ${fill(63, 60)}`, { limits });
    expect({ stopped, changes }).toEqual({ stopped: 'memory', changes: NOTHING });
  });

  it('limits processes, the size of a file, and the bytes copied in and back', async () => {
    const { sandbox } = await sandboxOf({ '/a': 'x'.repeat(1_000) });
    const forks = await runInOsSandbox(sandbox, 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 10 & done; wait', {
      limits: { processes: 6 },
    });
    expect(forks.stderr).toMatch(/[Cc]annot fork|Resource temporarily unavailable/);
    const large = await runInOsSandbox(sandbox, 'head -c 100000 /dev/zero >big; echo $?', {
      limits: { fileBytes: 10_240 },
    });
    expect(large.stdout.trim()).not.toBe('0');
    await expect(runInOsSandbox(sandbox, 'true', { limits: { copyInBytes: 999 } })).rejects.toMatchObject({
      code: 'EFBIG',
    });
    await sandbox.fileSystem.symlink('a', '/l');
    await expect(runInOsSandbox(sandbox, 'true', { limits: { copyInBytes: 1_000 } })).rejects.toMatchObject({
      code: 'EFBIG',
    });
    const many = runInOsSandbox(sandbox, 'head -c 9000 /dev/zero >b', { limits: { copyBackBytes: 8_000 } });
    await expect(many).rejects.toMatchObject({ code: 'EFBIG' });
    const files = runInOsSandbox(sandbox, 'touch 1 2; mkdir 3 4', { limits: { copyBackFiles: 3 } });
    await expect(files).rejects.toMatchObject({ code: 'EFBIG' });
  });

  it('stops a command that fills the disk while it runs', async () => {
    const { sandbox } = await sandboxOf({ '/a': 'one\n' });
    const { stopped, changes } = await runInOsSandbox(sandbox, 'head -c 32M /dev/zero >big; sleep 30', {
      limits: { writtenBytes: 2 ** 20 },
    });
    expect({ stopped, changes }).toEqual({ stopped: 'disk', changes: NOTHING });
  });

  it('refuses options and limits that do not exist, and names those that do', async () => {
    const { sandbox } = await sandboxOf({ '/a': 'one' });
    const run = (options: object) => runInOsSandbox(sandbox, 'echo two >a', options);
    await expect(run({ timeout: 5_000 })).rejects.toThrow("no option 'timeout'. It takes timeoutMs, limits, network");
    await expect(run({ limits: { memory: 5_000 } })).rejects.toThrow("no option 'memory'. It takes memoryBytes, proc");
  });

  it.each([
    ['kill -SEGV $$', null, 'SIGSEGV'],
    ['kill -KILL $$', null, 'SIGKILL'],
    ['sh -c "kill -ABRT \\$\\$"; exit $?', null, 'SIGABRT'],
    ['exit 129', 129, undefined],
    ['exit 255', 255, undefined],
  ])('reports how a command ended: %s', async (script, exitCode, signal) => {
    const { sandbox } = await sandboxOf({ '/a': 'one' });
    const result = await runInOsSandbox(sandbox, `echo two >a; ${script}`);
    expect(result).toMatchObject({ exitCode, signal, stopped: undefined, changes: { changed: ['/a'] } });
  });

  it('refuses a sandbox whose root is a link, and says so', async () => {
    const fs = await openFileSystem(new MemoryStorage(), { files: { '/real/a': 'one' } });
    await fs.symlink('real', '/link');
    for (const [config, path] of [
      [{ root: { root: '/link' } }, '/'],
      [{ paths: { n: { root: '/link', mode: 'rw' } } }, 'n'],
    ] as const) {
      const run = runInOsSandbox(new Sandbox(fs, config), 'echo two >a; echo two >n/a');
      await expect(run).rejects.toMatchObject({ code: 'ENOTDIR', path, message: expect.stringContaining('is a link') });
    }
    expect(await fs.readText('/real/a')).toBe('one');
  });

  it('spells changed paths as listFiles() does, with one root and with names', async () => {
    const fs = await openFileSystem(new MemoryStorage(), { files: { '/p/a/x': 'x', '/q/x': 'x' } });
    for (const config of [
      { root: { root: '/p' } },
      { paths: { one: { root: '/p', mode: 'rw' }, two: { root: '/q', mode: 'rw' } } },
    ] as const) {
      const sandbox = new Sandbox(fs, config);
      const before = await sandbox.listFiles();
      const script =
        'find . -type f | while read f; do echo y >"$f.new"; rm "$f"; ln -s "$(printf "\\377")" "$f"; done';
      const { changes, refused, checkpoint } = await runInOsSandbox(sandbox, script);
      expect({ removed: changes.removed, refused: refused.map(({ path }) => path).sort() }).toEqual({
        removed: [],
        refused: before,
      });
      expect(changes.added).toEqual(before.map((path) => `${path}.new`));
      await fs.rollback(checkpoint as NonNullable<typeof checkpoint>);
    }
  });

  it('has no network unless the sandbox has it, and asking for it is an escalation', async () => {
    const { sandbox } = await sandboxOf({});
    await expect(runInOsSandbox(sandbox, 'true', { network: true })).rejects.toBeInstanceOf(
      SandboxPermissionEscalationError,
    );
    const server = createServer((_, response) => response.end('reached'));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const fetch = [
      'bash',
      '-c',
      `exec 3<>/dev/tcp/127.0.0.1/${port}; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3`,
    ];
    expect((await runInOsSandbox(sandbox, fetch)).stdout).toBe('');
    const { sandbox: open } = await sandboxOf({}, { root: { root: '/' }, network: true });
    expect((await runInOsSandbox(open, fetch)).stdout).toContain('reached');
    expect((await runInOsSandbox(open, fetch, { network: false })).stdout).toBe('');
    server.close();
  });

  it('kills the command when its signal aborts, even during setup', async () => {
    for (const ms of [200, 1, 2, 4, 8, 12, 16, 24]) {
      const { sandbox } = await sandboxOf({ '/a': 'one' });
      const signal = AbortSignal.timeout(ms);
      await expect(runInOsSandbox(sandbox, 'echo two >a; sleep 60', { signal })).rejects.toThrow();
      expect(await sandbox.fileSystem.readText('/a')).toBe('one');
    }
  });

  it.each(['root', 'an ordinary user'])('shows nothing of the host, as %s', async (who) => {
    if (who === 'root' && process.getuid?.() !== 0) return;
    const folder = join(top, who === 'root' ? 'root' : 'user');
    mkdirSync(folder, { recursive: true });
    chmodSync(top, 0o755);
    const bundle = await bundled('canaries', folder);
    const secret = join(folder, 'canary-file');
    writeFileSync(secret, 'CANARY-of-a-file', { mode: 0o644 });
    // A descriptor left open by the parent process is inherited by this process.
    const leaked = openSync(secret, 'r');
    const user = process.getuid?.() === 0 && who !== 'root' ? { uid: 12_345, gid: 12_345 } : {};
    const { stdout, stderr } = spawnSync(process.execPath, [bundle, secret], {
      ...user,
      cwd: '/',
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], SECRET: 'CANARY-of-the-environment' },
      stdio: ['ignore', 'pipe', 'pipe', ...Array.from({ length: 9 }, () => leaked)],
    });
    expect(stderr).toBe('');
    const seen = JSON.parse(stdout) as Record<string, string>;
    expect(JSON.stringify(seen)).not.toContain('CANARY');
    expect(seen['whoami']).toBe('65534');
    expect(seen['processes']?.split(' ').length).toBeLessThan(8);
    expect(seen['capabilities']).toMatch(/^CapEff:\s*0+$/);
    expect(seen['sysctl']).toBe('refused');
    expect(seen['userns']).toBe('refused');
    expect(seen['home']).toBe('');
    expect(seen['root']).toBe('refused');
    expect(seen['network']).toBe('refused');
  });

  // On a build server a missing perl, which makes the system calls, is a failure.
  it.skipIf(!existsSync(perl) && !process.env['CI'])(
    'keeps keyrings and the terminal of the caller from a command, as root and as an ordinary user',
    async () => {
      const folder = mkdtempSync(join(top, 'keys-'));
      for (const directory of [top, folder]) chmodSync(directory, 0o755);
      const bundle = await bundled('print-command', folder);
      for (const user of process.getuid?.() === 0 ? [{}, { uid: 12_345, gid: 12_345 }] : [{}]) {
        const seen = (...command: string[]): string => {
          const args = [CALLS[3], CALLS[1], process.execPath, bundle, ...command].map(String);
          const { stdout, stderr } = spawnSync(perl, ['-e', WITH_KEY, ...args], {
            ...user,
            cwd: '/',
            encoding: 'utf8',
          });
          expect(stderr).toBe('');
          return stdout;
        };
        expect(seen(perl, '-e', DENIED, ...CALLS.map(String))).toBe(`1 1 1 1 1 1 25 38 ${'x'.repeat(100)}`);
        expect(seen('/bin/sh', '-c', 'cat /proc/keys /proc/key-users 2>/dev/null')).toBe('');
      }
    },
  );

  it('runs nothing on an architecture without a filter of system calls', async () => {
    const { sandbox } = await sandboxOf({ '/a': 'one' });
    const architecture = Object.getOwnPropertyDescriptor(process, 'arch') as PropertyDescriptor;
    Object.defineProperty(process, 'arch', { ...architecture, value: 'riscv64' });
    try {
      await expect(runInOsSandbox(sandbox, 'echo two >a')).rejects.toThrow(/x64 and arm64 only, and this is riscv64/);
    } finally {
      Object.defineProperty(process, 'arch', architecture);
    }
  });

  it.each(['root', 'an ordinary user'])('brings changes back whatever modes the command left, as %s', async (who) => {
    if (who === 'root' && process.getuid?.() !== 0) return;
    const folder = mkdtempSync(join(top, 'modes-'));
    for (const directory of [top, folder]) chmodSync(directory, 0o777);
    const bundle = await bundled('odd-modes', folder);
    const user = process.getuid?.() === 0 && who !== 'root' ? { uid: 12_345, gid: 12_345 } : {};
    const deep = 'i=0; while [ $i -lt 22 ]; do n=$(printf %0200d $i); mkdir $n; cd $n; i=$((i+1)); done';
    const expected = {
      'echo new >n; chmod 000 x': { added: ['/n'], removed: [], changed: [] },
      'echo new >n; chmod 000 d': { added: ['/n'], removed: [], changed: [] },
      'echo new >d/n; rm d/y; chmod 500 d': { added: ['/d/n'], removed: ['/d/y'], changed: [] },
      'mkdir q; touch q/f; chmod 000 q': { added: ['/q/f'], removed: [], changed: [] },
      'rm x; mkdir -p a/b; touch a/b/c; chmod 500 a/b a': { added: ['/a/b/c'], removed: ['/x'], changed: [] },
      [deep]: { added: [], removed: [], changed: [] },
    };
    const { stdout, stderr } = spawnSync(process.execPath, [bundle, ...Object.keys(expected)], {
      ...user,
      cwd: '/',
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], TMPDIR: folder },
    });
    expect(stderr).toBe('');
    const outcomes = JSON.parse(stdout) as Record<string, { refused: { reason: string }[] }>;
    for (const [script, changes] of Object.entries(expected))
      expect({ script, ...outcomes[script] }).toMatchObject({ script, exitCode: 0, ...changes });
    const reasons = outcomes[deep]?.refused.map(({ reason }) => reason);
    expect(new Set(reasons)).toEqual(new Set(['its path has more than 4096 bytes']));
    expect(readdirSync(folder)).toEqual(['child.mjs']);
  });

  it.each([
    ['root cannot become nobody', ['--unshare-user', '--disable-userns']],
    ['no namespaces can be made', ['--unshare-user', '--disable-userns', '--uid', '1000', '--gid', '1000']],
    ['bubblewrap is not installed', ['--ro-bind', '/dev/null', '/usr/bin/bwrap']],
  ])('runs nothing if %s, required or not', async (_, lack) => {
    const folder = mkdtempSync(join(top, 'lack-'));
    const bundle = await bundled('unheld', folder);
    const args = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--bind', folder, folder, ...lack];
    const env = { PATH: process.env['PATH'], TMPDIR: folder };
    const { stdout, stderr } = spawnSync(findBubblewrap(), [...args, '--', process.execPath, bundle, folder], {
      encoding: 'utf8',
      env,
    });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual(['OsSandboxUnavailableError', 'OsSandboxUnavailableError']);
    expect(readdirSync(folder)).toEqual(['child.mjs']);
  });
});
