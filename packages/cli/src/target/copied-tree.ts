import type { FileSystem } from '@scratchfs/core';
import type { Call, Result } from '../table/command-spec.js';
import { escapeText } from '../terminal/escape.js';
import type { Output } from '../terminal/output.js';
import { bytesText, count } from '../terminal/quantities.js';
import { type CopyCount, copyTree } from './copy-tree.js';

/** Returns the result of a copy: one line for a person, the counts as JSON. */
export function copiedResult(verb: string, place: string, copied: CopyCount, output: Output): Result {
  const line = `${verb} ${escapeText(place)}: ${count(copied.files, 'file')}, ${bytesText(copied.bytes)}`;
  return { lines: output.isQuiet ? [] : [line], json: { path: place, ...copied } };
}

/** Copies all files of an import to a path of its target. A terminal shows the number of files copied so far. */
export function importTree(
  { output, signal }: Call,
  from: FileSystem,
  to: FileSystem,
  path: string,
): Promise<CopyCount> {
  return output.progress('Importing', (report) =>
    copyTree(from, '/', to, path, { signal, onProgress: ({ files }) => report(count(files, 'file')) }),
  );
}
