import { type EntryInfo, type FileSystem, isFsError, joinPath, type SyncFileSystem } from '@scratchfs/core';
import type { Random } from '../random.js';

/** One change, as a method call that every filesystem has. */
export interface Edit {
  readonly method: keyof FileSystem & string;
  readonly args: readonly unknown[];
}

export interface EditOptions {
  /** Names for new entries. Sides that share names may create the same entries. */
  readonly names: readonly string[];
  readonly now: number;
}

type EditMaker = (random: Random, entries: readonly EntryInfo[], options: EditOptions) => Edit;

const MAKERS: readonly EditMaker[] = [
  (random, entries, options) => edit('writeFile', randomPathIn(random, entries, options), text(random)),
  (random, entries) => edit('writeFile', pick(random, entries, 'file'), text(random)),
  (random, entries) => edit('writeFile', pick(random, entries, 'file'), large(random)),
  (random, entries) => edit('appendFile', pick(random, entries, 'file'), text(random)),
  (random, entries) => edit('truncate', pick(random, entries, 'file'), random.below(5)),
  (random, entries, options) => edit('mkdir', randomPathIn(random, entries, options)),
  (random, entries) => edit('rm', pick(random, entries), { recursive: true }),
  (random, entries) => edit('rm', pick(random, entries, 'file')),
  (random, entries, options) => edit('rename', pick(random, entries), randomPathIn(random, entries, options)),
  (random, entries, options) =>
    edit('rename', pick(random, entries, 'directory'), randomPathIn(random, entries, options)),
  (random, entries) => edit('rename', pick(random, entries), pick(random, entries)),
  (random, entries, options) => edit('link', pick(random, entries, 'file'), randomPathIn(random, entries, options)),
  (random, entries, options) => edit('symlink', text(random), randomPathIn(random, entries, options)),
  (random, entries, options) =>
    edit('cp', pick(random, entries), randomPathIn(random, entries, options), { recursive: true }),
  (random, entries) => edit('chmod', pick(random, entries), 0o600 + random.below(8)),
  (random, entries, { now }) => edit('utimes', pick(random, entries), now / 1000 - random.below(9), now / 1000),
];

/** Returns a random change, which may fail. */
export function randomEdit(random: Random, entries: readonly EntryInfo[], options: EditOptions): Edit {
  return random.pick(MAKERS)(random, entries, options);
}

/** Applies the change with promise methods. Returns true if it succeeded. */
export async function applyEdit(fileSystem: FileSystem, { method, args }: Edit): Promise<boolean> {
  try {
    await (fileSystem[method] as (...all: readonly unknown[]) => Promise<unknown>)(...args);
    return true;
  } catch (error) {
    if (!isFsError(error)) throw error;
    return false;
  }
}

/** Applies the change synchronously. Returns true if it succeeded. */
export function applyEditSync(fileSystem: SyncFileSystem, { method, args }: Edit): boolean {
  try {
    (fileSystem[`${method}Sync` as keyof SyncFileSystem] as (...all: readonly unknown[]) => unknown)(...args);
    return true;
  } catch (error) {
    if (!isFsError(error)) throw error;
    return false;
  }
}

function edit(method: Edit['method'], ...args: readonly unknown[]): Edit {
  return { method, args };
}

function pick(random: Random, entries: readonly EntryInfo[], kind?: EntryInfo['kind']): string {
  const fitting = entries.filter((entry) => kind === undefined || entry.kind === kind);
  return fitting.length === 0 ? '/first' : random.pick(fitting).path;
}

function randomPathIn(random: Random, entries: readonly EntryInfo[], { names }: EditOptions): string {
  const directories = ['/', ...entries.filter(({ kind }) => kind === 'directory').map(({ path }) => path)];
  return joinPath(random.pick(directories), random.pick(names));
}

function text(random: Random): string {
  return random.pick(['one', 'two', 'three', 'a line\nand another\n', 'x'.repeat(40)]);
}

function large(random: Random): Uint8Array {
  const bytes = new Uint8Array(70_000 + random.below(3) * 65_536);
  bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}
