import type { FileSystem, SyncFileSystem } from '@scratchfs/core';
import { bytesOf } from './data.js';
import type { ModelFileSystem } from './model/model-file-system.js';
import type { Step } from './operations.js';
import { errorName, type Outcome, printBytes } from './outcome.js';

/** A step as a call: its arguments and the method, of the filesystem or of the handle in a slot. */
export interface Call {
  readonly on: 'fileSystem' | number;
  readonly method: string;
  readonly args: readonly unknown[];
  /** Makes the result comparable. Default: only success is compared. */
  readonly read?: (result: unknown) => unknown;
}

/** The open handles of a sequence, by slot. */
export type Handles = Map<number, unknown>;

type Methods = Record<string, (...args: readonly unknown[]) => unknown>;

/** Plays a step with the promise methods and returns its outcome. */
export async function apply(fileSystem: FileSystem, step: Step, handles: Handles): Promise<Outcome> {
  const call = callOf(step);
  try {
    if (step.op === 'open') await closeSlot(handles, step.args.slot, 'close');
    const receiver = receiverOf(fileSystem, call, handles);
    if (receiver === undefined) return { error: 'no handle' };
    const result = await receiver[call.method]?.(...call.args);
    return finish(step, call, handles, isAsyncIterable(result) ? await collect(result) : result);
  } catch (error) {
    return { error: errorName(error) };
  }
}

/** Plays a step with the `…Sync` methods, or on the model, and returns its outcome. */
export function applySync(fileSystem: SyncFileSystem | ModelFileSystem, step: Step, handles: Handles): Outcome {
  const call = callOf(step);
  const suffix = fileSystem.kind === 'sync' ? 'Sync' : '';
  try {
    if (step.op === 'open') closeSlot(handles, step.args.slot, `close${suffix}`);
    const receiver = receiverOf(fileSystem, call, handles);
    if (receiver === undefined) return { error: 'no handle' };
    return finish(step, call, handles, receiver[call.method + suffix]?.(...call.args));
  } catch (error) {
    return { error: errorName(error) };
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

async function collect(items: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const item of items) all.push(item);
  return all;
}

function receiverOf(fileSystem: object, call: Call, handles: Handles): Methods | undefined {
  return (call.on === 'fileSystem' ? fileSystem : handles.get(call.on)) as Methods | undefined;
}

function closeSlot(handles: Handles, slot: number, method: string): unknown {
  const open = handles.get(slot) as Methods | undefined;
  handles.delete(slot);
  return open?.[method]?.();
}

function finish(step: Step, call: Call, handles: Handles, result: unknown): Outcome {
  if (step.op === 'open') {
    handles.set(step.args.slot, result);
    return { value: null };
  }
  if (step.op === 'close') handles.delete(step.args.slot);
  return { value: call.read?.(result) ?? null };
}

/** Returns the method call of a step. Any filesystem with these methods can play steps. */
export function callOf(step: Step): Call {
  const onFileSystem = (method: string, args: readonly unknown[], read?: (result: unknown) => unknown): Call =>
    read === undefined ? { on: 'fileSystem', method, args } : { on: 'fileSystem', method, args, read };
  const onHandle = (
    slot: number,
    method: string,
    args: readonly unknown[],
    read?: (result: unknown) => unknown,
  ): Call => (read === undefined ? { on: slot, method, args } : { on: slot, method, args, read });
  switch (step.op) {
    case 'exists':
    case 'isFile':
    case 'isDirectory':
    case 'realpath':
    case 'readlink':
    case 'readLines':
    case 'readdir':
    case 'readText':
      return onFileSystem(step.op, [step.args.path], (result) => result);
    case 'stat':
    case 'lstat':
      return onFileSystem(step.op, [step.args.path], readStat);
    case 'getEntry':
      return onFileSystem('getEntry', [step.args.path], readEntry);
    case 'readFile':
      return onFileSystem('readFile', [step.args.path], (bytes) => printBytes(bytes as Uint8Array));
    case 'entries':
      return onFileSystem('entries', [step.args.path], (all) => (all as unknown[]).map(readInfo));
    case 'walk':
      return onFileSystem('walk', [step.args.path], (all) => [...(all as Iterable<unknown>)].map(readInfo));
    case 'access':
      return onFileSystem('access', [step.args.path, step.args.mode]);
    case 'writeFile': {
      const { path, data, flag, mode } = step.args;
      return onFileSystem('writeFile', [path, content(data), { flag, mode }]);
    }
    case 'writeLines':
      return onFileSystem('writeLines', [step.args.path, step.args.lines]);
    case 'appendFile':
      return onFileSystem('appendFile', [step.args.path, content(step.args.data)]);
    case 'editFile': {
      const { path, search, replacement, all } = step.args;
      return onFileSystem('editFile', [path, search, replacement, { all }], (count) => count);
    }
    case 'truncate':
      return onFileSystem('truncate', [step.args.path, step.args.length]);
    case 'mkdir': {
      const { path, recursive, mode } = step.args;
      return onFileSystem('mkdir', [path, { recursive, mode }], (first) => first ?? null);
    }
    case 'rm':
      return onFileSystem('rm', [step.args.path, { recursive: step.args.recursive, force: step.args.force }]);
    case 'unlink':
    case 'rmdir':
      return onFileSystem(step.op, [step.args.path]);
    case 'cp': {
      const { from, to, ...options } = step.args;
      return onFileSystem('cp', [from, to, options]);
    }
    case 'copyFile':
      return onFileSystem('copyFile', [step.args.from, step.args.to, { exclusive: step.args.exclusive }]);
    case 'rename':
    case 'link':
      return onFileSystem(step.op, [step.args.from, step.args.to]);
    case 'symlink':
      return onFileSystem('symlink', [step.args.target, step.args.path]);
    case 'chmod':
      return onFileSystem('chmod', [step.args.path, step.args.mode]);
    case 'chown':
    case 'lchown':
      return onFileSystem(step.op, [step.args.path, step.args.uid, step.args.gid]);
    case 'utimes':
    case 'lutimes':
      return onFileSystem(step.op, [step.args.path, new Date(step.args.atime), new Date(step.args.mtime)]);
    case 'open':
      return onFileSystem('open', [step.args.path, step.args.flags, { mode: step.args.mode }]);
    case 'read': {
      const into = new Uint8Array(step.args.length);
      return onHandle(step.args.slot, 'read', [into, step.args.position], (count) => [count, printBytes(into)]);
    }
    case 'write':
      return onHandle(step.args.slot, 'write', [content(step.args.data), step.args.position], (count) => count);
    case 'handleReadFile':
      return onHandle(step.args.slot, 'readFile', [], (bytes) => printBytes(bytes as Uint8Array));
    case 'handleWriteFile':
      return onHandle(step.args.slot, 'writeFile', [content(step.args.data)]);
    case 'handleTruncate':
      return onHandle(step.args.slot, 'truncate', [step.args.length]);
    case 'handleStat':
      return onHandle(step.args.slot, 'stat', [], readStat);
    case 'handleChmod':
      return onHandle(step.args.slot, 'chmod', [step.args.mode]);
    case 'handleUtimes':
      return onHandle(step.args.slot, 'utimes', [new Date(step.args.atime), new Date(step.args.mtime)]);
    case 'close':
      return onHandle(step.args.slot, 'close', []);
    case 'stats':
      return onFileSystem('stats', [], (counts) => ({ ...(counts as object) }));
    case 'checkpoint':
      return onFileSystem('checkpoint', [step.args.name]);
    case 'rollback':
    case 'drop':
      return onFileSystem(step.op, [step.args.name]);
  }
}

function content(data: Parameters<typeof bytesOf>[0]): Uint8Array | string {
  return typeof data === 'string' ? data : bytesOf(data);
}

/** Returns the comparable fields of a `stat`, without the inode number. A directory counts as having one link. */
export function readStat(result: unknown): unknown {
  const { kind, mode, nlink, size, uid, gid, atimeMs, mtimeMs, ctimeMs, birthtimeMs } = result as Record<
    string,
    unknown
  >;
  return {
    kind,
    mode,
    nlink: kind === 'directory' ? 1 : nlink,
    size,
    uid,
    gid,
    atimeMs,
    mtimeMs,
    ctimeMs,
    birthtimeMs,
  };
}

/** Returns the comparable fields of an entry, without its content. */
export function readInfo(result: unknown): unknown {
  const entry = result as Record<string, unknown>;
  const { name, path, kind, isDirectory, size, mode, uid, gid, createdAt, modifiedAt, changedAt, accessedAt } = entry;
  const links = kind === 'directory' ? 1 : entry.links;
  const target = entry.target ?? null;
  return {
    name,
    path,
    kind,
    isDirectory,
    size,
    mode,
    uid,
    gid,
    createdAt,
    modifiedAt,
    changedAt,
    accessedAt,
    links,
    target,
  };
}

function readEntry(result: unknown): unknown {
  return { ...(readInfo(result) as object), content: printBytes((result as { content: Uint8Array }).content) };
}
