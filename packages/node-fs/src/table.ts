import type { Operation } from './operation.js';
import { openAsBlob } from './operations/blob.js';
import { appendFile, readFile, writeFile } from './operations/contents.js';
import { cp, cpSync } from './operations/copy.js';
import * as descriptors from './operations/descriptors.js';
import { opendir, readdir } from './operations/directories.js';
import { glob } from './operations/glob.js';
import * as metadata from './operations/metadata.js';
import * as names from './operations/names.js';
import { open } from './operations/open.js';
import { realpath, realpathNative } from './operations/real-path.js';
import * as remove from './operations/remove.js';
import { statfs } from './operations/statfs.js';
import * as times from './operations/times.js';
import { read, readSync, readv, write, writev } from './operations/transfer.js';
import { appendFrom, writeFrom } from './operations/write-from.js';

export type Table = Readonly<Record<string, Operation>>;

function table(operations: Readonly<Record<string, unknown>>): Table {
  return operations as Table;
}

const OF_PATHS = { ...metadata, ...names, ...remove, ...times, cp, glob, opendir, readdir, realpath, statfs };
const OF_FILES = { appendFile, readFile, writeFile };

/** What `node:fs` has with a callback. */
export const CALLBACKS = table({ ...OF_PATHS, ...OF_FILES, ...descriptors, open, read, readv, write, writev });

/** What answers at once, its names without `Sync`. */
export const SYNCHRONOUS: Table = { ...CALLBACKS, ...table({ cp: cpSync, read: readSync }) };

/** What `promises` has; a FileHandle takes the place of descriptors. */
export const PROMISES = table({
  ...OF_PATHS,
  ...OF_FILES,
  realpath: realpathNative,
  writeFile: writeFrom,
  appendFile: appendFrom,
});

export { open, openAsBlob, realpathNative };
