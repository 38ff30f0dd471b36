import { encodeName, type Given, nameEncoding, toOptions } from '../arguments/options.js';
import { toPath } from '../arguments/paths.js';
import { checkBoolean, checkInteger } from '../arguments/values.js';
import { Dir } from '../dir.js';
import { nodeError } from '../errors/node-error.js';
import { awaited, type FsProcedure } from '../fs-driver.js';
import { type Facade, type NodeFunction, nodeFunction } from '../node-function.js';
import { type Dirent, toDirent } from '../results/dirent.js';

interface Listing {
  readonly path: string;
  /** The listed directory as its entries name it: bytes if the caller gave bytes. */
  readonly parent: string | Uint8Array;
  readonly encoding: string;
  readonly withFileTypes: boolean;
  readonly recursive: boolean;
}

type Name = string | Uint8Array;

/** The promise form only tests `recursive` for truth. */
export const readdirLater: NodeFunction<Listing, (Name | Dirent<Name>)[]> = nodeFunction(
  2,
  ({ platform }, path, options) => {
    const given = toOptions(options, platform);
    return {
      ...toDirectory(path),
      encoding: nameEncoding(given),
      withFileTypes: Boolean(given['withFileTypes']),
      recursive: Boolean(given['recursive']),
    };
  },
  (facade, listing) => {
    const { driver, platform } = facade;
    const { path, parent, encoding, withFileTypes, recursive } = listing;
    if (recursive) return driver.run(listAll(facade, listing));
    if (withFileTypes) {
      return driver.map(driver.fs.readdir(path, { withFileTypes: true }), (entries) =>
        entries.map(({ name, kind }) => toDirent(encodeName(name, encoding, platform), kind, parent)),
      );
    }
    const names = driver.fs.readdir(path);
    return encoding === 'utf8'
      ? names
      : driver.map(names, (all) => all.map((name) => encodeName(name, encoding, platform)));
  },
);

export const readdir: NodeFunction<Listing, (Name | Dirent<Name>)[]> = {
  ...readdirLater,
  prepare(facade, path, options) {
    const listing = readdirLater.prepare(facade, path, options);
    const recursive = (options as Given | null | undefined)?.['recursive'];
    if (recursive !== undefined && recursive !== null) checkBoolean(recursive, 'options.recursive');
    return listing;
  },
};

/** Lists level by level as node:fs does. Links are named, not entered. */
function* listAll({ driver, platform }: Facade, listing: Listing): FsProcedure<(Name | Dirent<Name>)[]> {
  const { encoding, withFileTypes } = listing;
  const found: (Name | Dirent<Name>)[] = [];
  const pending = [{ path: listing.path, prefix: '' }];
  for (const { path, prefix } of pending) {
    for (const { name, kind } of yield* awaited(driver.fs.readdir(path, { withFileTypes: true }))) {
      const encode = (text: string) => encodeName(text, encoding, platform);
      found.push(withFileTypes ? toDirent(encode(name), kind, path) : encode(prefix + name));
      if (kind === 'directory') pending.push({ path: joined(path, name), prefix: `${prefix}${name}/` });
    }
  }
  return found;
}

function toDirectory(given: unknown): Pick<Listing, 'path' | 'parent'> {
  const path = toPath(given);
  return { path, parent: given instanceof Uint8Array ? given : path };
}

/** Joins a name to a directory path, which may end in slashes. */
export function joined(directory: string, name: string): string {
  return `${directory.replace(/\/+$/, '')}/${name}`;
}

const DEFAULT_BUFFER_ENTRIES = 32;
const MAX_UINT32 = 2 ** 32 - 1;

export const opendir: NodeFunction<Listing, Dir> = nodeFunction(
  2,
  ({ platform }, path, options) => {
    const given = toOptions(options, platform);
    const { bufferSize = DEFAULT_BUFFER_ENTRIES, recursive } = given;
    const call = {
      ...toDirectory(path),
      encoding: nameEncoding(given),
      withFileTypes: true,
      recursive: Boolean(recursive),
    };
    checkInteger(bufferSize, 'options.bufferSize', 1, MAX_UINT32);
    return call;
  },
  (facade, listing) =>
    facade.driver.map(
      readdir.run(facade, listing),
      (entries) => new Dir(facade.platform, entries as Dirent<Name>[], listing.parent),
    ),
  (error, { path }) => nodeError(error, { syscall: 'opendir', path }),
);

/** The synchronous form names no path on failure. */
export const opendirSync: NodeFunction<Listing, Dir> = {
  ...opendir,
  fail: (error) => nodeError(error, { syscall: 'opendir' }),
};
