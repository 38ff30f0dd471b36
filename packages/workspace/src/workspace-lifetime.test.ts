import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openWorkspace } from './workspace.js';
import type { Workspace, WorkspaceOptions } from './workspace-types.js';

let top: string;
let project: string;
const open: Workspace[] = [];

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'lifetime-'));
  project = join(top, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'a.txt'), 'one\n');
});
afterEach(async () => {
  for (const workspace of open.splice(0)) await workspace.close();
  rmSync(top, { recursive: true, force: true });
});

/** Each call is a client of its own, as another process is. */
async function opened(options: WorkspaceOptions = {}): Promise<Workspace> {
  const store = `${pathToFileURL(join(top, 'store')).href}?durability=process`;
  const workspace = await openWorkspace(project, { store, ...options });
  open.push(workspace);
  return workspace;
}

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', '-c', 'init.defaultBranch=main', ...args], {
    cwd: project,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

it('a program that only looks leaves the store and the directory as they are', async () => {
  const workspace = await opened();
  const attempt = await workspace.attempt();
  expect(await attempt.fileSystem.readText('/a.txt')).toBe('one\n');
  expect(await attempt.log()).toEqual({ operations: [], next: undefined });
  expect((await attempt.diff()).paths).toEqual([]);
  expect(await workspace.attempts()).toEqual([]);
  await attempt.discard();
  await workspace.close();
  expect(existsSync(join(top, 'store'))).toBe(false);
  expect(readdirSync(project)).toEqual(['a.txt']);
});

it('processes that open a workspace at the same time work on one attempt', async () => {
  const [a, b] = [await opened(), await opened()];
  const [one, two] = [await a.attempt(), await b.attempt()];
  await Promise.all([one.fileSystem.writeFile('/b.txt', 'b'), two.fileSystem.writeFile('/c.txt', 'c')]);
  expect(two.name).toBe(one.name);
  expect(await one.fileSystem.readdir('/')).toEqual(['a.txt', 'b.txt', 'c.txt']);
  expect(await two.head()).toBe(2);
  const later = await opened();
  expect(await later.attempts()).toMatchObject([{ name: one.name, head: 2, current: true }]);
  expect((await later.attempt()).name).toBe(one.name);
});

it('a discarded attempt takes no change, also from a process that has it open', async () => {
  const [a, b] = [await opened(), await opened()];
  const one = await a.createAttempt('one');
  const same = await b.attempt('one');
  await same.fileSystem.writeFile('/b.txt', 'b');
  await one.discard();
  await expect(same.fileSystem.writeFile('/c.txt', 'c')).rejects.toMatchObject({ code: 'closed' });
  await expect(same.undo()).rejects.toMatchObject({ code: 'closed' });
  await expect(b.attempt('one')).rejects.toMatchObject({ code: 'closed' });
  expect(await b.attempts()).toMatchObject([{ name: 'one', state: 'discarded', current: false }]);
  expect(await b.attempts({ name: 'one' })).toEqual(await b.attempts());
  expect(await b.attempts({ name: 'two' })).toEqual([]);
});

it('after a switch to another branch nothing changes, reading goes on, and a new attempt can begin', async () => {
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'one');
  const workspace = await opened();
  const attempt = await workspace.createAttempt('one');
  await attempt.fileSystem.writeFile('/b.txt', 'b');
  git('switch', '-q', '-c', 'other');
  const switched = expect.objectContaining({ code: 'branch-switched' });
  await expect(attempt.fileSystem.writeFile('/c.txt', 'c')).rejects.toEqual(switched);
  await expect(attempt.undo()).rejects.toEqual(switched);
  await expect(attempt.accept()).rejects.toEqual(switched);
  await expect(attempt.run('true')).rejects.toEqual(switched);
  expect(await attempt.fileSystem.readText('/b.txt')).toBe('b');
  expect(await attempt.head()).toBe(1);
  const fork = await attempt.fork('two');
  await fork.fileSystem.writeFile('/c.txt', 'c');
  git('switch', '-q', 'main');
  await attempt.fileSystem.writeFile('/c.txt', 'c');
  await expect(fork.undo()).rejects.toEqual(switched);
});

it('refresh onto another branch takes the attempt along, for all processes', async () => {
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'one');
  const workspace = await opened();
  const attempt = await workspace.createAttempt('one');
  await attempt.fileSystem.writeFile('/a.txt', 'one\nmine\n');
  const other = await (await opened()).attempt('one');
  git('switch', '-q', '-c', 'other');
  writeFileSync(join(project, 'a.txt'), 'theirs\none\n');
  await expect(attempt.refresh()).rejects.toMatchObject({ code: 'branch-switched' });
  expect(await attempt.refresh({ onto: true })).toEqual({ merged: ['/a.txt'], conflicts: [] });
  expect(await attempt.fileSystem.readText('/a.txt')).toBe('theirs\none\nmine\n');
  await other.fileSystem.writeFile('/c.txt', 'c');
  git('checkout', '-q', '--', '.');
  git('switch', '-q', 'main');
  await expect(other.undo()).rejects.toMatchObject({ code: 'branch-switched' });
});

it('a clock that goes back changes no order and loses nothing', async () => {
  let now = 2_000_000_000_000;
  const workspace = await opened({ clock: () => now });
  const attempt = await workspace.createAttempt('one');
  await attempt.fileSystem.writeFile('/b.txt', 'b');
  now = 1_000;
  await attempt.fileSystem.writeFile('/b.txt', 'B');
  await workspace.createAttempt('two');
  const { operations } = await attempt.log();
  expect(operations.map(({ id, at, ms }) => [id, at, ms >= 0])).toEqual([
    [2, 1_000, true],
    [1, 2_000_000_000_000, true],
  ]);
  await attempt.undo();
  expect(await attempt.fileSystem.readText('/b.txt')).toBe('b');
  expect((await workspace.gc()).deleted).toBe(0);
  expect((await (await opened()).attempt()).name).toBe('one');
});

it.each([['__proto__'], ['constructor'], ['-rf'], ['a\nb'], ['\u202etxt'], ['%s"$(x)'], ['\u00e9'.repeat(127)]])(
  'the name %j is an ordinary name, kept and taken back',
  async (name) => {
    const attempt = await (await opened({ store: 'memory:' })).attempt();
    const { fileSystem: fs } = attempt;
    await fs.writeFile(`/${name}`, 'x');
    await fs.mkdir('/d');
    await fs.rename(`/${name}`, `/d/${name}`);
    expect(await fs.readText(`/d/${name}`)).toBe('x');
    expect((await attempt.diff()).paths.map(({ path }) => path)).toContain(`/d/${name}`);
    for (let i = 0; i < 3; i++) await attempt.undo();
    expect(await fs.readdir('/')).toEqual(['a.txt']);
  },
);

it.each([
  ['a lone surrogate', '/\ud800', 'EINVAL'],
  ['NUL', '/a\0b', undefined],
  ['300 bytes', `/${'x'.repeat(300)}`, 'ENAMETOOLONG'],
])('a name with %s is refused, and nothing is stored', async (_, path, code) => {
  const workspace = await opened();
  const attempt = await workspace.attempt();
  await expect(attempt.fileSystem.writeFile(path, 'x')).rejects.toMatchObject(
    code === undefined ? { name: 'TypeError' } : { code },
  );
  expect(existsSync(join(top, 'store'))).toBe(false);
});

it('a directory that vanishes or is replaced takes no change, and loses none', async () => {
  const attempt = await (await opened()).createAttempt('one');
  await attempt.fileSystem.writeFile('/b.txt', 'b');
  renameSync(project, join(top, 'moved'));
  await expect(attempt.fileSystem.writeFile('/c.txt', 'c')).rejects.toMatchObject({ code: 'replaced' });
  mkdirSync(project);
  await expect(attempt.undo()).rejects.toMatchObject({ code: 'replaced' });
  await expect(opened()).rejects.toMatchObject({
    code: 'replaced',
    message: expect.stringContaining('doctor --adopt'),
  });
  rmSync(project, { recursive: true });
  renameSync(join(top, 'moved'), project);
  await attempt.fileSystem.writeFile('/c.txt', 'c');
  expect(await attempt.fileSystem.readdir('/')).toEqual(['a.txt', 'b.txt', 'c.txt']);
});
