import type { Operation } from './operation.js';
import { openAsBlob } from './operations/blob.js';
import {
  appendFile,
  appendFileSync,
  readFile,
  readFileLater,
  writeFile,
  writeFileSync,
} from './operations/contents.js';
import { cp, cpSync } from './operations/copy.js';
import * as descriptors from './operations/descriptors.js';
import { opendir, opendirSync, readdir, readdirLater } from './operations/directories.js';
import { glob } from './operations/glob.js';
import * as metadata from './operations/metadata.js';
import * as names from './operations/names.js';
import { open } from './operations/open.js';
import { realpath, realpathNative } from './operations/real-path.js';
import * as remove from './operations/remove.js';
import { statfs } from './operations/statfs.js';
import * as times from './operations/times.js';
import { read, readSync, readv, write, writev } from './operations/transfer.js';
import { truncate, truncateLater, truncateSync } from './operations/truncate.js';
import { appendFrom, writeFrom } from './operations/write-from.js';

export type Table = Readonly<Record<string, Operation>>;

function table(operations: Readonly<Record<string, unknown>>): Table {
  return operations as Table;
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
