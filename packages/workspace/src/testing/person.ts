import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** An entry of the disk: kind, mode (0 for a link), and content or target. */
export interface Found {
  readonly kind: 'file' | 'directory' | 'symlink';
  readonly mode: number;
  readonly data: string;
}

/** Returns what a directory of the disk holds, by path, without the repository. */
export function scan(directory: string): Map<string, Found> {
  const found = new Map<string, Found>();
  const visit = (path: string): void => {
    for (const name of readdirSync(directory + path).sort()) {
      const inside = `${path}/${name}`;
      if (inside === '/.git') continue;
      const stats = lstatSync(directory + inside);
      const kind = stats.isDirectory() ? 'directory' : stats.isSymbolicLink() ? 'symlink' : 'file';
      const data =
        kind === 'file'
          ? readFileSync(directory + inside, 'latin1')
          : kind === 'symlink'
            ? readlinkSync(directory + inside)
            : '';
      found.set(inside, { kind, mode: kind === 'symlink' ? 0 : stats.mode & 0o777, data });
      if (kind === 'directory') visit(inside);
    }
  };
  visit('');
  return found;
}

/** A person who works on a directory of the disk by random actions. Each new text of theirs has a line of its own. */
export class Person {
  #written = 2_000_000;

  constructor(
    readonly directory: string,
    readonly random: (below: number) => number,
  ) {}

  /** Returns a line that no other call returns. */
  line(): string {
    return `person ${++this.#written}\n`;
  }

  /** Fills the directory, makes it a git repository, and commits. */
  fill(): void {
    const { directory } = this;
    for (const folder of ['a', 'a/b', 'c', 'c/d', 'c/d/e']) {
      mkdirSync(join(directory, folder));
      for (const name of ['x', 'y']) {
        const lines = Array.from({ length: 4 }, (_, i) => `${this.line()}same ${i}\n`);
        writeFileSync(join(directory, folder, name), lines.join(''));
      }
    }
    writeFileSync(join(directory, 'a/.env'), this.line());
    writeFileSync(join(directory, '.gitignore'), 'build/\n');
    mkdirSync(join(directory, 'c/build'));
    writeFileSync(join(directory, 'c/build/out'), this.line());
    symlinkSync('a/x', join(directory, 'link'));
    linkSync(join(directory, 'a/y'), join(directory, 'c/linked'));
    this.#git('init', '-q', '-b', 'main');
    this.#commit();
  }

  #git(...args: string[]): void {
    const env = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
    const settings = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'gc.auto=0'];
    execFileSync('git', [...settings, ...args], { cwd: this.directory, env, stdio: 'pipe' });
  }

  #any(kind: Found['kind'], entries: readonly [string, string][]): string | undefined {
    const some = entries.filter(([, one]) => one === kind);
    const path = some[this.random(some.length)]?.[0];
    return path === undefined ? undefined : this.directory + path;
  }

  /** Tries a random action. Returns its description for a log, if there is one. */
  act(): string | undefined {
    const { directory, random } = this;
    // The files of an accept in progress are left alone.
    const entries = [...scan(directory)]
      .filter(([path]) => !path.startsWith('/.scratchfs'))
      .map(([path, { kind }]): [string, string] => [path, kind]);
    const file = this.#any('file', entries);
    const folder = this.#any('directory', entries);
    if (folder === undefined) return void mkdirSync(join(directory, 'home'));
    const fresh = `${random(3) === 0 ? directory : folder}/p${random(30)}`;
    const isFree = lstatSync(fresh, { throwIfNoEntry: false }) === undefined && existsSync(dirname(fresh));
    const actions: Record<string, () => unknown> = {
      edit: () => file && this.#edit(file),
      append: () => file && writeFileSync(file, this.line(), { flag: 'a' }),
      rewrite: () => file && writeFileSync(file, `${this.line()}same 1\n`),
      // Editors replace a file by renaming another one.
      replace: () => file && this.#replace(file),
      create: () => isFree && writeFileSync(fresh, `same 1\n${this.line()}`),
      mkdir: () => isFree && this.#directory(fresh),
      remove: () => file && unlinkSync(file),
      removeDirectory: () => random(3) === 0 && rmSync(folder, { recursive: true }),
      rename: () => file && isFree && renameSync(file, fresh),
      renameOver: () => {
        const other = this.#any('file', entries);
        return file && other && renameSync(file, other);
      },
      renameDirectory: () => isFree && !fresh.startsWith(`${folder}/`) && renameSync(folder, fresh),
      fileToDirectory: () => file && this.#directory(file),
      directoryToFile: () => random(3) === 0 && this.#fileAt(folder),
      again: () => file && this.#again(file),
      againDirectory: () => {
        const names = readdirSync(folder);
        if (names.length > 0) return false;
        rmSync(folder, { recursive: true });
        return mkdirSync(folder);
      },
      touch: () => file && utimesSync(file, new Date(), new Date(Date.now() - random(100_000))),
      sameTimes: () => {
        if (file === undefined) return false;
        const { atime, mtime } = statSync(file);
        this.#edit(file);
        return utimesSync(file, atime, mtime);
      },
      chmod: () => file && chmodSync(file, [0o644, 0o755, 0o600][random(3)] as number),
      hardLink: () => file && isFree && linkSync(file, fresh),
      symlink: () => isFree && this.#link(fresh),
      toLink: () => file && this.#link(file),
      checkout: () => this.#git('checkout', '-q', '--', '.'),
      reset: () => random(3) === 0 && this.#git('reset', '-q', '--hard'),
      commit: () => this.#commit(),
    };
    const names = Object.keys(actions);
    const name = names[random(names.length)] as string;
    return actions[name]?.() === false
      ? undefined
      : `${name} ${file?.slice(directory.length)} ${fresh.slice(directory.length)}`;
  }

  #commit(): void {
    this.#git('add', '-A');
    this.#git('commit', '-q', '--allow-empty', '-m', 'more');
  }

  #replace(file: string): void {
    writeFileSync(`${file}~`, this.line());
    renameSync(`${file}~`, file);
  }

  #directory(path: string): void {
    rmSync(path, { force: true });
    mkdirSync(path);
    writeFileSync(join(path, 'in'), this.line());
  }

  #fileAt(directory: string): void {
    rmSync(directory, { recursive: true });
    writeFileSync(directory, this.line());
  }

  #link(path: string): void {
    rmSync(path, { force: true });
    symlinkSync(this.line().trim(), path);
  }

  /** Replaces, inserts or removes a line, or writes the file unchanged. */
  #edit(file: string): void {
    const lines = readFileSync(file, 'latin1').split(/(?<=\n)/u);
    lines.splice(this.random(lines.length + 1), this.random(2), ...(this.random(4) === 0 ? [] : [this.line()]));
    writeFileSync(file, lines.join(''), 'latin1');
  }

  /** Writes a file anew with the bytes that it has. */
  #again(file: string): void {
    const bytes = readFileSync(file);
    unlinkSync(file);
    writeFileSync(file, bytes);
  }
}
