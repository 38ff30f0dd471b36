import * as node from 'node:fs';
import { bytesOf, type Data, type Step } from '@scratchfs/testkit';
import type { HandleState } from './coverage.js';
import type { HostFolder, Place } from './host-folder.js';
import { failure, type Outcome, type StatValue } from './outcome.js';
import { copyOne, copyTree, makeDirectory, removePath, wrongWithSource } from './reference-calls.js';
import type { Tree } from './tree.js';
import { isRoot } from './unprivileged.js';
import { namesOf, parentOf } from './virtual-path.js';

type Args = Step['args'] & { path?: string; from?: string; to?: string };

/** Operations that do not follow a link in the last name of the path. */
const ON_THE_NAME = new Set([
  'lstat',
  'getEntry',
  'readlink',
  'unlink',
  'rmdir',
  'rm',
  'rename',
  'symlink',
  'link',
  'mkdir',
  'lchown',
  'lutimes',
  'cp',
]);

/** Reports whether the operation acts on a link in the last name itself. */
function isOnTheName(step: Step, isSecond: boolean): boolean {
  if (step.op === 'open') return step.args.flags.includes('x');
  if (step.op === 'writeFile') return step.args.flag.includes('x');
  if (step.op === 'copyFile') return isSecond && step.args.exclusive;
  return ON_THE_NAME.has(step.op);
}

/** Returns a failed outcome that has only a code. */
function refused(code: string): Outcome {
  return { ok: false, code };
}

function unreachable(op: Step['op'], code: string): Outcome {
  if (op === 'exists' || op === 'isFile' || op === 'isDirectory') return { ok: true, value: false };
  // The other of the two paths may be wrong as well.
  const hasTwo = ['cp', 'copyFile', 'rename', 'link', 'mkdir'].includes(op);
  return {
    ok: false,
    code,
    ...(hasTwo ? { alternative: ['ENOENT', 'ENOTDIR', 'EISDIR', 'EEXIST', 'EPERM', 'ENAMETOOLONG'] } : {}),
  };
}

export interface HostEntry {
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'symlink';
}

interface Open {
  readonly fd: number;
  readonly path: string;
  readonly isAppending: boolean;
}

/** Runs steps on node:fs in a host folder. Paths must be lexically resolved. */
export class HostSubject {
  readonly #slots = new Map<number, Open>();
  readonly #toVirtual = (path: string) => this.folder.decodeTarget(this.folder.toVirtual(path));

  constructor(readonly folder: HostFolder) {
    node.chmodSync(folder.root, 0o755);
  }

  run(step: Step): Outcome {
    const outcome = this.#run(step);
    this.folder.forget();
    return outcome;
  }

  #run(step: Step): Outcome {
    const args = step.args as Args;
    if ([args.from, args.to].some((path) => path?.includes('\0'))) return refused('TypeError');
    // The root is checked before the length of the other name.
    if (this.#isRefusedAtRoot(step.op, args)) return { ok: false, code: 'EBUSY', alternative: ['ENAMETOOLONG'] };
    // Node takes the empty path for the process's working directory.
    if ([args.path, args.from, args.to].includes('') && (step.op === 'cp' || step.op === 'mkdir'))
      return { ok: false, code: 'ENOENT', alternative: this.#wrongWithSource(step) };
    const slot = 'slot' in args && step.op !== 'open' ? this.#slots.get(args.slot)?.fd : undefined;
    if ('slot' in args && step.op !== 'open' && slot === undefined) return refused('no handle');
    if (step.op === 'open') this.#close(step.args.slot);
    const places = [args.path, args.from, args.to].map((path, i) => this.#place(step, path, i === 2));
    // Paths with more than 40 links, or with a dangling link in the middle, have no equivalent form to ask.
    if (places.some((place) => place?.climbed && place.loop)) return unreachable(step.op, 'ELOOP');
    if (this.#isLostInDangling(step, places)) {
      const alternative = ['EEXIST', 'ENAMETOOLONG', 'ENOTDIR', 'ELOOP', ...this.#wrongWithSource(step)];
      return { ok: false, code: 'ENOENT', alternative };
    }
    const [path, from, to] = places.map((place, i) => this.#ask(step.op, place, [args.path, args.from, args.to][i]));
    for (const asked of [path, from, to]) {
      if (asked !== '' && asked !== this.folder.root && !asked?.startsWith(`${this.folder.root}/`)) {
        throw new RangeError(`${asked} is not in the folder`);
      }
    }
    try {
      return { ok: true, value: this.#perform(step, { path, from, to, slot }) };
    } catch (error) {
      const outcome = failure(error, false, this.#toVirtual);
      if (outcome.ok) return outcome;
      const { path: _path, dest: _dest, ...withoutPaths } = outcome;
      return {
        // The error names the physical path, which the kernel got in place of the given one.
        ...(places.some((place) => place?.climbed)
          ? { ...withoutPaths, isWhole: outcome.isWhole && 'but for paths' }
          : outcome),
        // Kernels differ in which of the two names they check first.
        ...(step.op === 'rename' && outcome.code === 'ENAMETOOLONG' ? { alternative: ['ENOENT'] } : {}),
      };
    }
  }

  /** Returns the stats at a path without links, for their times. */
  times(path: string): node.Stats | undefined {
    return this.folder.lstat(this.folder.toHost(path));
  }

  /** Returns the states of the file in a slot since it was opened. */
  handleStates(slot: number): HandleState[] {
    const open = this.#slots.get(slot);
    if (open === undefined) return [];
    const stats = node.fstatSync(open.fd);
    const place = this.folder.locate(open.path, true);
    const isThere = !place.loop && this.folder.lstat(place.physical)?.ino === stats.ino;
    return [
      stats.nlink === 0 ? 'unlinked' : isThere ? 'plain' : 'renamed',
      ...(open.isAppending ? (['append'] as const) : []),
    ];
  }

  /** Returns every entry of the folder, the root first. Links are not entered. */
  entries(): HostEntry[] {
    const entries: HostEntry[] = [{ path: '/', kind: 'directory' }];
    const add = (path: string, host: string) => {
      for (const entry of node.readdirSync(host, { withFileTypes: true })) {
        const child = path === '/' ? `/${entry.name}` : `${path}/${entry.name}`;
        const kind = entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'symlink' : 'file';
        entries.push({ path: child, kind });
        if (kind === 'directory') add(child, `${host}/${entry.name}`);
      }
    };
    add('/', this.folder.root);
    return entries;
  }

  tree(): Tree {
    const tree: Tree = new Map();
    const add = (path: string, host: string) => {
      const stats = node.lstatSync(host);
      const value = this.#stat(stats, host);
      tree.set(path, {
        ...value,
        ino: stats.ino,
        atime: stats.atimeMs,
        mtime: stats.mtimeMs,
        ctime: stats.ctimeMs,
        ...(value.kind === 'file' ? { content: node.readFileSync(host) } : {}),
        ...(value.kind === 'symlink' ? { target: this.folder.decodeTarget(node.readlinkSync(host)) } : {}),
      });
      if (value.kind !== 'directory') return;
      for (const name of node.readdirSync(host)) add(path === '/' ? `/${name}` : `${path}/${name}`, `${host}/${name}`);
    };
    add('/', this.folder.root);
    return tree;
  }

  close(): void {
    for (const slot of [...this.#slots.keys()]) this.#close(slot);
    this.folder.remove();
  }

  /** Reports whether Linux would refuse this for a real root, which is never moved or removed. The folder would be. */
  #isRefusedAtRoot(op: Step['op'], args: Args): boolean {
    if (op === 'rename' && args.from !== undefined && args.to !== undefined && (args.from === '/' || args.to === '/')) {
      const other = args.from === '/' ? args.to : args.from;
      return other !== '' && this.folder.isInDirectory(other);
    }
    return args.path === '/' && (op === 'rmdir' || (op === 'rm' && 'recursive' in args && args.recursive === true));
  }

  /**
   * Reports whether directories would be created behind a dangling link that climbs: the disk refuses the given path,
   * but not the one asked.
   */
  #isLostInDangling(step: Step, [path, , to]: readonly (Place | undefined)[]): boolean {
    if (step.op === 'mkdir') return path?.climbed === true && this.folder.isThroughDangling(step.args.path);
    return step.op === 'cp' && to?.climbed === true && this.folder.isThroughDangling(parentOf(step.args.to));
  }

  /** Returns the codes for which the source of a copy is refused regardless of the destination. */
  #wrongWithSource(step: Step): string[] {
    if (step.op !== 'cp' || step.args.from === '') return [];
    const { plain } = this.folder.look(step.args.from);
    return plain.loop ? ['ELOOP'] : wrongWithSource(this.#ask('cp', plain, step.args.from), step.args.recursive);
  }

  #close(slot: number): void {
    const open = this.#slots.get(slot);
    if (open !== undefined) node.closeSync(open.fd);
    this.#slots.delete(slot);
  }

  #place(step: Step, path: string | undefined, isSecond: boolean): Place | undefined {
    if (path === undefined || path === '' || path.includes('\0')) return undefined;
    const { plain, stats, end } = this.folder.look(path);
    if (step.op === 'mkdir' && step.args.recursive && stats !== undefined) return end;
    return isOnTheName(step, isSecond) ? plain : end;
  }

  #ask(op: Step['op'], place: Place | undefined, path: string | undefined): string {
    // Node removes name by name and would fail when its path leads through something that it removes.
    if (place?.climbed || (op === 'rm' && place !== undefined && !place.loop)) return place.physical;
    return path === undefined || path === '' ? '' : this.folder.toHost(path);
  }

  #stat(stats: node.Stats, host: string | undefined): StatValue {
    const kind = stats.isDirectory() ? 'directory' : stats.isSymbolicLink() ? 'symlink' : 'file';
    // Without root, files cannot change owner, so both sides show 0.
    const owner = isRoot ? { uid: stats.uid, gid: stats.gid } : { uid: 0, gid: 0 };
    const common = { kind, mode: stats.mode & 0o7777, ...owner };
    if (kind === 'directory') return common;
    const size =
      kind === 'symlink' && host !== undefined
        ? Buffer.byteLength(this.folder.decodeTarget(node.readlinkSync(host)))
        : stats.size;
    return { ...common, nlink: stats.nlink, size };
  }

  #perform(
    step: Step,
    host: { path: string | undefined; from: string | undefined; to: string | undefined; slot: number | undefined },
  ): unknown {
    const path = host.path as string;
    const from = host.from as string;
    const to = host.to as string;
    const fd = host.slot as number;
    const { folder } = this;
    switch (step.op) {
      case 'exists':
        return node.existsSync(path);
      case 'isFile':
        return isKind(path, 'isFile');
      case 'isDirectory':
        return isKind(path, 'isDirectory');
      case 'access':
        return node.accessSync(path, step.args.mode);
      case 'realpath':
        return folder.toVirtual(node.realpathSync.native(path));
      case 'stat':
        return this.#stat(node.statSync(path), undefined);
      case 'lstat':
        return this.#stat(node.lstatSync(path), path);
      case 'getEntry':
        return this.#entry(path);
      case 'readlink':
        return folder.decodeTarget(node.readlinkSync(path));
      case 'readdir':
        return sorted(node.readdirSync(path));
      case 'entries':
        return this.#entries(path).map(({ name, kind }) => ({ name, kind }));
      case 'walk':
        return this.#walk(path, '');
      case 'readFile':
        return node.readFileSync(path);
      case 'readText':
        return new TextDecoder('utf-8', { ignoreBOM: true }).decode(node.readFileSync(path));
      case 'readLines':
        return lines(new TextDecoder('utf-8', { ignoreBOM: true }).decode(node.readFileSync(path)));
      case 'writeFile':
        return node.writeFileSync(path, content(step.args.data), { flag: step.args.flag, mode: step.args.mode });
      case 'writeLines':
        return node.writeFileSync(path, step.args.lines.map((line) => `${line}\n`).join(''), { mode: 0o644 });
      case 'appendFile':
        return node.appendFileSync(path, content(step.args.data), { mode: 0o644 });
      case 'editFile':
        return edit(path, step.args.search, step.args.replacement, step.args.all);
      case 'truncate':
        return node.truncateSync(path, step.args.length);
      case 'mkdir': {
        const made = makeDirectory(path, step.args.recursive, step.args.mode);
        // The kernel may have got another path. In the given one, as many names at the end are new.
        return (
          made &&
          namesOf(step.args.path)
            .slice(0, namesOf(made).length - namesOf(path).length || undefined)
            .reduce((above, name) => `${above}/${name}`, '')
        );
      }
      case 'rm':
        return removePath(path, step.args);
      case 'unlink':
        return node.unlinkSync(path);
      case 'rmdir':
        return node.rmdirSync(path);
      case 'cp':
        return copyTree(from, to, step.args, (link) => folder.locate(folder.toVirtual(link), true).physical);
      case 'copyFile':
        return copyOne(from, to, step.args.exclusive);
      case 'rename':
        return node.renameSync(from, to);
      case 'symlink':
        return node.symlinkSync(folder.encodeTarget(step.args.target), path);
      case 'link':
        return node.linkSync(from, to);
      case 'chmod':
        return node.chmodSync(path, step.args.mode);
      case 'chown':
        return node.chownSync(path, step.args.uid, step.args.gid);
      case 'lchown':
        return node.lchownSync(path, step.args.uid, step.args.gid);
      case 'utimes':
        return node.utimesSync(path, new Date(step.args.atime), new Date(step.args.mtime));
      case 'lutimes':
        return node.lutimesSync(path, new Date(step.args.atime), new Date(step.args.mtime));
      case 'open':
        this.#slots.set(step.args.slot, {
          fd: node.openSync(path, step.args.flags, step.args.mode),
          path: step.args.path,
          isAppending: step.args.flags.startsWith('a'),
        });
        return undefined;
      case 'read': {
        const bytes = new Uint8Array(step.args.length);
        // Node skips the kernel for zero bytes and so misses that a file is not open for reading.
        if (bytes.length === 0) node.readSync(fd, new Uint8Array(1), 0, 1, 0);
        const length = node.readSync(fd, bytes, 0, bytes.length, step.args.position);
        return { length, bytes: bytes.subarray(0, length) };
      }
      case 'write': {
        const bytes = Buffer.from(content(step.args.data));
        return node.writeSync(fd, bytes, 0, bytes.length, step.args.position);
      }
      case 'handleReadFile':
        return node.readFileSync(fd);
      case 'handleWriteFile':
        // Node likewise skips the kernel for zero bytes, and so misses that a file is not open for writing.
        if (content(step.args.data).length === 0) node.writeSync(fd, new Uint8Array(0));
        return node.writeFileSync(fd, content(step.args.data));
      case 'handleTruncate':
        return node.ftruncateSync(fd, step.args.length);
      case 'handleStat':
        return this.#stat(node.fstatSync(fd), undefined);
      case 'handleChmod':
        return node.fchmodSync(fd, step.args.mode);
      case 'handleUtimes':
        return node.futimesSync(fd, new Date(step.args.atime), new Date(step.args.mtime));
      case 'close':
        return this.#close(step.args.slot);
      default:
        throw new RangeError(`${step.op} has no counterpart on a disk`);
    }
  }

  #entry(path: string): unknown {
    const { kind, mode, size = 0 } = this.#stat(node.lstatSync(path), path);
    return {
      kind,
      mode,
      size,
      content: kind === 'file' ? node.readFileSync(path) : new Uint8Array(0),
      target: kind === 'symlink' ? this.folder.decodeTarget(node.readlinkSync(path)) : null,
    };
  }

  #entries(path: string): { name: string; kind: string }[] {
    const byName = new Map(node.readdirSync(path, { withFileTypes: true }).map((entry) => [entry.name, entry]));
    return sorted([...byName.keys()]).map((name) => {
      const entry = byName.get(name) as node.Dirent;
      return { name, kind: entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'symlink' : 'file' };
    });
  }

  #walk(host: string, path: string): unknown[] {
    return this.#entries(host).flatMap(({ name, kind }) => {
      const child = path === '' ? name : `${path}/${name}`;
      return [{ path: child, kind }, ...(kind === 'directory' ? this.#walk(`${host}/${name}`, child) : [])];
    });
  }
}

function content(data: Data): string | Uint8Array {
  return typeof data === 'string' ? data : bytesOf(data);
}

function isKind(path: string, method: 'isFile' | 'isDirectory'): boolean {
  try {
    return node.statSync(path)[method]();
  } catch {
    return false;
  }
}

function sorted(names: string[]): string[] {
  return names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function lines(text: string): string[] {
  const all = text.split(/\r?\n/);
  if (all.at(-1) === '') all.pop();
  return all;
}

function edit(path: string, search: string, replacement: string, all: boolean): number {
  const bytes = node.readFileSync(path);
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  if (!bytes.equals(Buffer.from(text))) throw Object.assign(new Error('not UTF-8'), { code: 'EINVAL' });
  const pieces = text.split(search);
  const count = pieces.length - 1;
  if (search === '') throw new TypeError('nothing to search for');
  if (count === 0 || (count > 1 && !all)) throw Object.assign(new Error('not exactly once'), { code: 'EINVAL' });
  const fd = node.openSync(path, 'r+');
  try {
    node.ftruncateSync(fd, 0);
    node.writeFileSync(fd, pieces.join(replacement));
  } finally {
    node.closeSync(fd);
  }
  return count;
}
