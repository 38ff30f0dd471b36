import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '@scratchfs/testkit';
import { openWorkspace } from '@scratchfs/workspace';
import { bundleProgram } from './bundle-program.js';
import { leftovers, told } from './host-changes.js';
import { printed } from './printed.js';

/** An accept, or the undo of one, during which a program may be killed. */
export interface AcceptKill {
  readonly disk: string;
  readonly action: 'accept' | 'undo';
  readonly paths: readonly string[];
}

interface Ground extends AcceptKill {
  readonly before: string;
  readonly after: string;
}

/** Number of accepts in one program, because starting a program is slow. */
const TOGETHER = 10;

/** Paths to accept: a part of what the attempt changes. */
const PATHS = ['/src', '/moved', '/b', '/run'];

/** States in which programs were killed, and what was wrong afterwards. */
export interface KilledAccepts {
  /** Killed before anything was written. */
  readonly before: number;
  /** Killed while files were being written. */
  readonly within: number;
  /** Killed after all files were written. */
  readonly after: number;
  readonly problems: readonly string[];
}

/** Kills programs (SIGKILL) at random moments of accepts by apply, and of their undo, in dirty repositories. */
export async function killAccepts(count: number, random: Random): Promise<KilledAccepts> {
  const top = mkdtempSync(join(tmpdir(), 'scratchfs-accepts-'));
  process.env['XDG_STATE_HOME'] = join(top, 'state');
  try {
    return await new AcceptKills(top, await bundleProgram('accept-program.ts', top), random).run(count);
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

class AcceptKills {
  readonly #problems: string[] = [];
  readonly #template: string;
  #grounds = 0;
  readonly #killed = { before: 0, within: 0, after: 0 };
  /** Milliseconds that the accepts of a program take together. Measured by the first one, which is not killed. */
  #window = 0;

  constructor(
    readonly top: string,
    readonly program: string,
    readonly random: Random,
  ) {
    this.#template = join(top, 'template');
    dirtyRepository(this.#template);
  }

  async run(count: number): Promise<KilledAccepts> {
    // The first program is measured and not killed.
    for (let done = -TOGETHER; done < count && this.#problems.length < 10; done += TOGETHER) {
      const grounds = await Promise.all(Array.from({ length: TOGETHER }, (_, i) => this.#ground(i % 3 === 2)));
      await this.#kill(grounds);
      for (const ground of grounds) await this.#check(ground);
    }
    return { ...this.#killed, problems: this.#problems };
  }

  async #ground(isUndo: boolean): Promise<Ground> {
    const disk = join(this.top, `ground-${++this.#grounds}`);
    cpSync(this.#template, disk, { recursive: true, verbatimSymlinks: true });
    await using workspace = await openWorkspace(disk);
    const attempt = await workspace.attempt();
    const fs = attempt.fileSystem;
    for (let i = 0; i < 12; i++) await fs.writeFile(`/src/f${i}`, `agent ${i}\n`);
    await fs.editFile('/src/edited', 'last', 'the last');
    await fs.rename('/lib', '/moved');
    await fs.rm('/b', { recursive: true });
    await fs.chmod('/run', 0o755);
    await fs.writeFile('/large.bin', 'agent');
    const before = told(disk);
    await attempt.accept({ paths: PATHS });
    const after = told(disk);
    const states = { disk, paths: PATHS };
    if (isUndo) return { ...states, action: 'undo', before: after, after: before };
    await attempt.undo();
    if (told(disk) !== before) this.#problems.push(`${disk}: the undo left something`);
    return { ...states, action: 'accept', before, after };
  }

  async #kill(grounds: readonly Ground[]): Promise<void> {
    const kills = grounds.map(({ disk, action, paths }): AcceptKill => ({ disk, action, paths }));
    const child = spawn(process.execPath, [this.program, JSON.stringify(kills)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await printed(child, 'ready');
    const begun = performance.now();
    child.stdin?.write('go\n');
    const ended = once(child, 'exit');
    const isDone = printed(child, 'done').then(
      () => true,
      () => false,
    );
    if (this.#window === 0) {
      await isDone;
      this.#window = Math.ceil(performance.now() - begun);
    } else await Promise.race([isDone, pause(this.random.below(this.#window))]);
    child.kill('SIGKILL');
    await ended;
  }

  async #check({ disk, action, before, after }: Ground): Promise<void> {
    const problem = (text: string): void => void this.#problems.push(`${disk} (${action}): ${text}`);
    const isCut = leftovers(disk).length > 0;
    await using workspace = await openWorkspace(disk);
    const attempt = await workspace.attempt();
    // The first call completes or forgets the interrupted one.
    await attempt.accept({ dryRun: true, onConflict: 'skip' });
    const now = told(disk);
    const isAfter = now === after;
    this.#killed[isCut ? 'within' : isAfter ? 'after' : 'before']++;
    if (!isAfter && now !== before) problem(`neither before nor after:\n${now}\nbefore:\n${before}\nafter:\n${after}`);
    const [last] = (await attempt.log({ limit: 1 })).operations;
    const isLogged = action === 'accept' ? last?.tool === 'accept' : last?.tool === 'undo';
    if (isLogged !== isAfter)
      problem(`the disk is ${isAfter ? 'after' : 'before'}, and the log ends with ${last?.tool}`);
    const isAccepted = isAfter === (action === 'accept');
    const open = (await attempt.diff()).paths.map(({ path }) => path);
    if (open.some((path) => path.startsWith('/src')) === isAccepted) problem(`the attempt still has ${open}`);
    if (isAccepted) await attempt.undo();
    else await attempt.accept({ paths: PATHS });
    if (leftovers(disk).length > 0) problem(`left ${leftovers(disk)}`);
    const [then, expected] = [told(disk), isAfter ? before : after];
    if (then !== expected) problem(`the next step left something else:\n${then}\nexpected:\n${expected}`);
    rmSync(disk, { recursive: true });
  }
}

/** Creates a repository with staged, unstaged and untracked changes, CRLF files and files with a filter. */
function dirtyRepository(path: string): void {
  const write = (files: Readonly<Record<string, string>>): void => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(join(path, name, '..'), { recursive: true });
      writeFileSync(join(path, name), content);
    }
  };
  const git = (...args: string[]): void => {
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
    execFileSync('git', [...identity, ...args], { cwd: path, stdio: 'pipe' });
  };
  write({
    '.gitattributes': '*.txt text eol=crlf\n*.bin filter=lfs\n',
    'src/edited': 'first\n\n\n\n\n\n\n\n\nlast\n',
    'lib/one.txt': 'one\r\n',
    'lib/deep/two': 'two\n',
    'b/c': 'c\n',
    'b/d/e': 'e\n',
    'large.bin': 'large',
    'staged.txt': 'a\r\n',
    'unstaged.txt': 'a\r\n',
    run: '#!/bin/sh\n',
  });
  for (let i = 0; i < 6; i++) write({ [`src/f${i}`]: `file ${i}\n` });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-q', '-m', 'first');
  write({ 'staged.txt': 'staged\r\n', 'src/edited': 'person\n\n\n\n\n\n\n\n\nlast\n' });
  git('add', 'staged.txt');
  write({ 'unstaged.txt': 'unstaged\r\n', 'untracked.txt': 'untracked\r\n' });
}
