import { type Stats as CoreStats, isFsError } from '@scratchfs/core';
import { toBits, toMode } from '../arguments/mode.js';
import type { Given } from '../arguments/options.js';
import { toPath } from '../arguments/paths.js';
import { checkOwner } from '../arguments/values.js';
import { type Steps, step } from '../door.js';
import { type Facade, type Operation, operation } from '../operation.js';
import { type BigIntStats, type Stats, toBigIntStats, toStats } from '../results/stats.js';

interface StatCall {
  readonly path: string;
  readonly bigint: boolean;
  readonly mayMiss: boolean;
}

function statOf(method: 'stat' | 'lstat'): Operation<StatCall, Stats | BigIntStats | undefined> {
  return operation(
    2,
    (_, path, options = {}) => {
      const { bigint, throwIfNoEntry } = options as Given;
      return { path: toPath(path), bigint: Boolean(bigint), mayMiss: throwIfNoEntry === false };
    },
    (facade, call) => {
      const { door } = facade;
      if (call.mayMiss) return door.run(statOrMissing(facade, method, call));
      return door.map<CoreStats, Stats | BigIntStats>(
        door.fs[method](call.path),
        call.bigint ? toBigIntStats : toStats,
      );
    },
  );
}

function* statOrMissing(
  { door }: Facade,
  method: 'stat' | 'lstat',
  { path, bigint }: StatCall,
): Steps<Stats | BigIntStats | undefined> {
  try {
    const stats = yield* step(door.fs[method](path));
    return bigint ? toBigIntStats(stats) : toStats(stats);
  } catch (error) {
    if (isFsError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

export const stat = statOf('stat');
export const lstat = statOf('lstat');

export const access = operation(
  2,
  (_, path, mode) => ({ path: toPath(path), mode: toBits(mode) }),
  ({ door }, { path, mode }) => door.fs.access(path, mode),
);

export const chmod = operation(
  2,
  (_, path, mode) => ({ path: toPath(path), mode: toMode(mode) }),
  ({ door }, { path, mode }) => door.fs.chmod(path, mode),
);

function chownOf(method: 'chown' | 'lchown') {
  return operation(
    3,
    (_, path, uid, gid) => ({ path: toPath(path), uid: checkOwner(uid, 'uid'), gid: checkOwner(gid, 'gid') }),
    ({ door }, { path, uid, gid }) => door.fs[method](path, uid, gid),
  );
}

export const chown = chownOf('chown');
export const lchown = chownOf('lchown');
