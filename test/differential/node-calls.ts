import type { Dirent, Stats } from 'node:fs';
import { bytesOf, type Data, type Step } from '@scratchfs/testkit';
import type { StatValue } from './outcome.js';

/** A step as a call of `node:fs`: the name without `Sync`. */
export interface NodeCall {
  /** A function of paths or of descriptors; FileHandle has a method for the latter. */
  readonly on: 'path' | 'descriptor';
  readonly name: string;
  /** The FileHandle's name for it. */
  readonly method?: string;
  /** Arguments after the descriptor, if there is one. */
  readonly args: readonly unknown[];
  /** Converts the result to the form that both sides of a comparison share. */
  readonly toValue: (result: unknown) => unknown;
}

/** Steps without a `node:fs` call, or whose call means something else. */
export const NO_NODE_CALL = /^(cp|editFile|getEntry|isFile|isDirectory|readLines|writeLines|walk)$/;

/** Returns the slot of the open file that a step uses. */
export function slotOf(step: Step): number | undefined {
  return step.op === 'open' || !('slot' in step.args) ? undefined : step.args.slot;
}

/** @throws RangeError for what {@link NO_NODE_CALL} matches */
export function nodeCallOf(step: Step): NodeCall {
  switch (step.op) {
    case 'exists':
    case 'readlink':
    case 'readFile':
    case 'unlink':
    case 'rmdir':
    case 'readdir':
      return ofPath(step.op, [step.args.path]);
    case 'access':
      return ofPath('access', [step.args.path, step.args.mode]);
    case 'realpath':
      return ofPath('realpath', [step.args.path]);
    case 'stat':
    case 'lstat':
      return ofPath(step.op, [step.args.path], statValue);
    case 'entries':
      return ofPath('readdir', [step.args.path, { withFileTypes: true }], (entries) =>
        (entries as Dirent[]).map((entry) => ({ name: entry.name, kind: kindOf(entry) })),
      );
    case 'readText':
      return ofPath('readFile', [step.args.path, 'utf8']);
    case 'writeFile':
      return ofPath('writeFile', [
        step.args.path,
        contentOf(step.args.data),
        { flag: step.args.flag, mode: step.args.mode },
      ]);
    case 'appendFile':
      return ofPath('appendFile', [step.args.path, contentOf(step.args.data), { mode: 0o644 }]);
    case 'truncate':
      return ofPath('truncate', [step.args.path, step.args.length]);
    case 'mkdir':
      return ofPath('mkdir', [step.args.path, { recursive: step.args.recursive, mode: step.args.mode }]);
    case 'rm':
      return ofPath('rm', [step.args.path, { recursive: step.args.recursive, force: step.args.force }]);
    case 'copyFile':
      return ofPath('copyFile', [step.args.from, step.args.to, step.args.exclusive ? 1 : 0]);
    case 'rename':
    case 'link':
      return ofPath(step.op, [step.args.from, step.args.to]);
    case 'symlink':
      return ofPath('symlink', [step.args.target, step.args.path]);
    case 'chmod':
      return ofPath('chmod', [step.args.path, step.args.mode]);
    case 'chown':
    case 'lchown':
      return ofPath(step.op, [step.args.path, step.args.uid, step.args.gid]);
    case 'utimes':
    case 'lutimes':
      return ofPath(step.op, [step.args.path, new Date(step.args.atime), new Date(step.args.mtime)]);
    case 'open':
      return ofPath('open', [step.args.path, step.args.flags, step.args.mode]);
    default:
      return descriptorCallOf(step);
  }
}

function descriptorCallOf(step: Step): NodeCall {
  switch (step.op) {
    case 'read': {
      const bytes = new Uint8Array(step.args.length);
      return ofDescriptor('read', 'read', [bytes, 0, bytes.length, step.args.position], (count) => ({
        length: count,
        bytes: bytes.subarray(0, count as number),
      }));
    }
    case 'write': {
      const bytes = Buffer.from(contentOf(step.args.data));
      return ofDescriptor('write', 'write', [bytes, 0, bytes.length, step.args.position]);
    }
    case 'handleReadFile':
      return ofDescriptor('readFile', 'readFile', []);
    case 'handleWriteFile':
      return ofDescriptor('writeFile', 'writeFile', [contentOf(step.args.data)]);
    case 'handleTruncate':
      return ofDescriptor('ftruncate', 'truncate', [step.args.length]);
    case 'handleStat':
      return ofDescriptor('fstat', 'stat', [], statValue);
    case 'handleChmod':
      return ofDescriptor('fchmod', 'chmod', [step.args.mode]);
    case 'handleUtimes':
      return ofDescriptor('futimes', 'utimes', [new Date(step.args.atime), new Date(step.args.mtime)]);
    case 'close':
      return ofDescriptor('close', 'close', []);
    default:
      throw new RangeError(`${step.op} is no call of node:fs`);
  }
}

const asItIs = (result: unknown): unknown => result;

function ofPath(name: string, args: readonly unknown[], toValue = asItIs): NodeCall {
  return { on: 'path', name, args, toValue };
}

function ofDescriptor(name: string, method: string, args: readonly unknown[], toValue = asItIs): NodeCall {
  return { on: 'descriptor', name, method, args, toValue };
}

function statValue(result: unknown): StatValue {
  const stats = result as Stats;
  const { mode, uid, gid, nlink, size } = stats;
  const kind = kindOf(stats);
  const common = { kind, mode: mode & 0o7777, uid, gid };
  return kind === 'directory' ? common : { ...common, nlink, size };
}

function kindOf(entry: Pick<Stats, 'isDirectory' | 'isSymbolicLink'>): string {
  return entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'symlink' : 'file';
}

export function contentOf(data: Data): string | Uint8Array {
  return typeof data === 'string' ? data : bytesOf(data);
}
