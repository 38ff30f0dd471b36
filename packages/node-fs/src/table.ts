import { openAsBlob } from './functions/blob.js';
import { appendFile, appendFileSync, readFile, readFileLater, writeFile, writeFileSync } from './functions/contents.js';
import { cp, cpSync } from './functions/copy.js';
import * as descriptors from './functions/descriptors.js';
import { opendir, opendirSync, readdir, readdirLater } from './functions/directories.js';
import { glob } from './functions/glob.js';
import * as metadata from './functions/metadata.js';
import * as names from './functions/names.js';
import { open } from './functions/open.js';
import { realpath, realpathNative } from './functions/real-path.js';
import * as remove from './functions/remove.js';
import { statfs } from './functions/statfs.js';
import * as times from './functions/times.js';
import { read, readSync, readv, write, writev } from './functions/transfer.js';
import { truncate, truncateLater, truncateSync } from './functions/truncate.js';
import { appendFrom, writeFrom } from './functions/write-from.js';
import type { NodeFunction } from './node-function.js';

export type Table = Readonly<Record<string, NodeFunction>>;

function table(functions: Readonly<Record<string, unknown>>): Table {
  return functions as Table;
}

const { statSync, lstatSync, ...ofMetadata } = metadata;
const { mkdirLater, ...ofNames } = names;
const OF_PATHS = {
  ...ofMetadata,
  ...ofNames,
  ...remove,
  ...times,
  cp,
  glob,
  opendir,
  readdir,
  realpath,
  statfs,
  truncate,
};
const OF_FILES = { appendFile, readFile, writeFile };

/** Functions of `node:fs` with a callback. */
export const CALLBACKS = table({ ...OF_PATHS, ...OF_FILES, ...descriptors, open, read, readv, write, writev });

/** Synchronous functions, their names without `Sync`. */
export const SYNCHRONOUS: Table = {
  ...CALLBACKS,
  ...table({
    appendFile: appendFileSync,
    cp: cpSync,
    lstat: lstatSync,
    opendir: opendirSync,
    read: readSync,
    stat: statSync,
    truncate: truncateSync,
    writeFile: writeFileSync,
  }),
};

/** Functions of `promises`; a FileHandle replaces descriptors. */
export const PROMISES = table({
  ...OF_PATHS,
  ...OF_FILES,
  mkdir: mkdirLater,
  readFile: readFileLater,
  readdir: readdirLater,
  realpath: realpathNative,
  truncate: truncateLater,
  writeFile: writeFrom,
  appendFile: appendFrom,
});

export { open, openAsBlob, realpathNative };
