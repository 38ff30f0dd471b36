import type { Stats, SyncFileHandle, SyncFileSystem } from '@scratchfs/core';
import { lexical, parentOf } from './virtual-path.js';

/** A bug: methods that replace those of a correct filesystem and call it. */
export interface PlantedBug {
  readonly name: string;
  readonly plant: (fs: SyncFileSystem) => Partial<PlainMethods>;
}

/** The methods as the steps call them: paths are text, and options are objects. */
type PlainMethods = {
  [K in keyof SyncFileSystem]: SyncFileSystem[K] extends (...args: infer A) => infer R
    ? (...args: { [I in keyof A]: PlainArgument<A[I]> }) => R
    : SyncFileSystem[K];
};
type PlainArgument<A> = URL extends A
  ? Exclude<A, URL | Uint8Array>
  : Extract<A, object> extends never
    ? A
    : Exclude<A, string | number | null>;

/** Returns the filesystem with the bug's methods in place of its own. */
export function withBug(fs: SyncFileSystem, bug: PlantedBug): SyncFileSystem {
  const methods = bug.plant(fs) as Record<PropertyKey, unknown>;
  return new Proxy(fs, {
    get(target, name) {
      const own: unknown = methods[name] ?? Reflect.get(target, name, target);
      return typeof own === 'function' && !(name in methods) ? own.bind(target) : own;
    },
  });
}

function isDirectory(fs: SyncFileSystem, path: string): boolean {
  return look(fs, path)?.kind === 'directory';
}

function look(fs: SyncFileSystem, path: string): Stats | undefined {
  try {
    return fs.lstatSync(path);
  } catch {
    return undefined;
  }
}

/** Shows the old time for as long as the new one is the one that the bug hid. */
function hidingTimes(fs: SyncFileSystem, field: 'ctimeMs' | 'mtimeMs') {
  const hidden = new Map<number, { real: number; shown: number }>();
  const show = (stats: Stats): Stats => {
    const mask = hidden.get(stats.ino);
    return mask?.real === stats[field] ? Object.assign(Object.create(stats), stats, { [field]: mask.shown }) : stats;
  };
  return {
    hide(path: string, work: () => void, newPath = path) {
      const before = look(fs, path);
      work();
      const after = look(fs, newPath);
      if (before?.ino === after?.ino && before && after) {
        hidden.set(after.ino, { real: after[field], shown: show(before)[field] });
      }
    },
    methods: {
      statSync: (path: string) => show(fs.statSync(path)),
      lstatSync: (path: string) => show(fs.lstatSync(path)),
    },
  };
}

/** Lets a bug replace methods of every opened handle. */
function handles(fs: SyncFileSystem, change: (handle: SyncFileHandle, path: string) => Partial<SyncFileHandle>) {
  const openSync: PlainMethods['openSync'] = (path, flags, options) => {
    const handle = fs.openSync(path, flags, options);
    const methods = change(handle, path) as Record<PropertyKey, unknown>;
    return new Proxy(handle, {
      get(target, name) {
        const own: unknown = methods[name] ?? Reflect.get(target, name, target);
        return typeof own === 'function' && !(name in methods) ? own.bind(target) : own;
      },
    });
  };
  return { openSync };
}

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'rename replaces a directory that is not empty',
    plant: (fs) => ({
      renameSync(from, to) {
        const isNested =
          `${lexical(to)}/`.startsWith(`${lexical(from)}/`) || `${lexical(from)}/`.startsWith(`${lexical(to)}/`);
        if (isDirectory(fs, from) && isDirectory(fs, to) && !isNested) fs.rmSync(to, { recursive: true });
        fs.renameSync(from, to);
      },
    }),
  },
  {
    name: 'rename of a name onto its twin removes one of them',
    plant: (fs) => ({
      renameSync(from, to) {
        const [a, b] = [look(fs, from), look(fs, to)];
        if (a?.kind === 'file' && a.ino === b?.ino && fs.realpathSync(from) !== fs.realpathSync(to))
          fs.unlinkSync(from);
        else fs.renameSync(from, to);
      },
    }),
  },
  {
    name: 'rm -r follows a link',
    plant: (fs) => ({
      rmSync(path, options) {
        if (options?.recursive && look(fs, path)?.kind === 'symlink' && fs.isDirectorySync(path)) {
          for (const name of fs.readdirSync(path)) fs.rmSync(`${path}/${name}`, { recursive: true });
        }
        fs.rmSync(path, options);
      },
    }),
  },
  {
    name: 'mkdir -p over a file succeeds',
    plant: (fs) => ({
      mkdirSync(path, options) {
        return options?.recursive && look(fs, path)?.kind === 'file' ? undefined : fs.mkdirSync(path, options);
      },
    }),
  },
  {
    name: 'an appending handle heeds the position',
    plant: (fs) =>
      handles(fs, (handle, path) => ({
        writeSync(data, position) {
          const end = handle.statSync().size;
          const written = handle.writeSync(data, position);
          if (
            typeof position === 'number' &&
            position < end &&
            handle.statSync().size === end + written &&
            fs.isFileSync(path)
          ) {
            fs.truncateSync(path, end);
          }
          return written;
        },
      })),
  },
  {
    name: 'truncate does not fill with zeros',
    plant: (fs) => ({
      truncateSync(path, length = 0) {
        const size = fs.isFileSync(path) ? fs.statSync(path).size : length;
        fs.truncateSync(path, length);
        if (length <= size) return;
        using handle = fs.openSync(path, 'r+');
        handle.writeSync(new Uint8Array([255]), size);
      },
    }),
  },
  {
    name: 'a copy loses its mode',
    plant: (fs) => ({
      copyFileSync(source, destination, options) {
        fs.copyFileSync(source, destination, options);
        fs.chmodSync(destination, 0o644);
      },
    }),
  },
  {
    name: 'the number of links is not counted down',
    plant: (fs) => {
      const lost = new Map<number, number>();
      const show = (stats: Stats): Stats =>
        Object.assign(Object.create(stats), stats, { nlink: stats.nlink + (lost.get(stats.ino) ?? 0) });
      return {
        unlinkSync(path) {
          const before = look(fs, path);
          fs.unlinkSync(path);
          if (before?.kind === 'file' && before.nlink > 1) lost.set(before.ino, (lost.get(before.ino) ?? 0) + 1);
        },
        statSync: (path) => show(fs.statSync(path)),
        lstatSync: (path) => show(fs.lstatSync(path)),
      };
    },
  },
  {
    name: 'a dangling link is replaced instead of written through',
    plant: (fs) => ({
      writeFileSync(path, data, options) {
        const isDangling = look(fs, path)?.kind === 'symlink' && !fs.existsSync(path);
        if (isDangling && options?.flag === 'w') fs.unlinkSync(path);
        fs.writeFileSync(path, data, options);
      },
    }),
  },
  {
    name: 'readdir is not sorted',
    plant: (fs) => ({
      readdirSync: ((path: string, options?: object) =>
        [...fs.readdirSync(path, options)].reverse()) as SyncFileSystem['readdirSync'],
    }),
  },
  {
    name: 'readdir sorts by UTF-16 units',
    plant: (fs) => ({
      readdirSync: ((path: string, options?: object) => {
        const names: unknown[] = [...fs.readdirSync(path, options)];
        return names.every((name) => typeof name === 'string') ? names.sort() : names;
      }) as SyncFileSystem['readdirSync'],
    }),
  },
  {
    name: 'readdir misses one of five names',
    plant: (fs) => ({
      readdirSync: ((path: string, options?: object) => {
        const names: unknown[] = [...fs.readdirSync(path, options)];
        return names.length === 5 ? names.slice(1) : names;
      }) as SyncFileSystem['readdirSync'],
    }),
  },
  {
    name: 'chmod leaves ctime',
    plant: (fs) => {
      const { hide, methods } = hidingTimes(fs, 'ctimeMs');
      return { ...methods, chmodSync: (path, mode) => hide(path, () => fs.chmodSync(path, mode)) };
    },
  },
  {
    name: 'unlink leaves the mtime of the directory',
    plant: (fs) => {
      const { hide, methods } = hidingTimes(fs, 'mtimeMs');
      return { ...methods, unlinkSync: (path) => hide(parentOf(lexical(path)), () => fs.unlinkSync(path)) };
    },
  },
  {
    name: 'rename leaves the ctime of what it moves',
    plant: (fs) => {
      const { hide, methods } = hidingTimes(fs, 'ctimeMs');
      return { ...methods, renameSync: (from, to) => hide(from, () => fs.renameSync(from, to), to) };
    },
  },
  {
    name: 'a write by the handle of an unlinked file brings it back',
    plant: (fs) =>
      handles(fs, (handle, path) => ({
        writeSync(data, position) {
          const written = handle.writeSync(data, position);
          if (handle.statSync().nlink === 0 && fs.isDirectorySync(parentOf(lexical(path))))
            fs.writeFileSync(path, data);
          return written;
        },
      })),
  },
  {
    name: 'rmdir removes what is in the directory',
    plant: (fs) => ({
      rmdirSync(path) {
        if (isDirectory(fs, path) && lexical(path) !== '/') fs.rmSync(path, { recursive: true });
        else fs.rmdirSync(path);
      },
    }),
  },
  {
    name: 'utimes does not follow a link',
    plant: (fs) => ({ utimesSync: (path, atime, mtime) => fs.lutimesSync(path, atime, mtime) }),
  },
  {
    name: 'writing with r+ empties the file first',
    plant: (fs) => ({
      writeFileSync(path, data, options) {
        fs.writeFileSync(
          path,
          data,
          options?.flag === 'r+' && fs.isFileSync(path) ? { ...options, flag: 'w' } : options,
        );
      },
    }),
  },
  {
    name: 'wx writes through a dangling link',
    plant: (fs) => ({
      writeFileSync(path, data, options) {
        const isDangling = look(fs, path)?.kind === 'symlink' && !fs.existsSync(path);
        fs.writeFileSync(path, data, isDangling && options?.flag === 'wx' ? { ...options, flag: 'w' } : options);
      },
    }),
  },
  {
    name: 'a hard link to a link is one to its target',
    plant: (fs) => ({
      linkSync: (existing, path) => fs.linkSync(fs.isFileSync(existing) ? fs.realpathSync(existing) : existing, path),
    }),
  },
  {
    name: 'cp -r follows the links in a directory',
    plant: (fs) => ({
      cpSync(source, destination, options) {
        const isNew = look(fs, destination) === undefined;
        fs.cpSync(source, destination, options);
        if (!isNew || !isDirectory(fs, destination)) return;
        for (const entry of fs.entriesSync(destination)) {
          if (entry.kind !== 'symlink' || !fs.isFileSync(entry.path)) continue;
          const bytes = fs.readFileSync(entry.path);
          fs.unlinkSync(entry.path);
          fs.writeFileSync(entry.path, bytes);
        }
      },
    }),
  },
  {
    name: 'a name under a file is ENOENT',
    plant: (fs) => ({
      statSync(path) {
        try {
          return fs.statSync(path);
        } catch (error) {
          if ((error as { code?: string }).code !== 'ENOTDIR') throw error;
          return fs.statSync('/nothing of that name');
        }
      },
    }),
  },
];
