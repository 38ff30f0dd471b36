import { type Stats as CoreStats, isFsError } from '@scratchfs/core';
import { toBits, toMode } from '../arguments/mode.js';
import { type Given, isBigint } from '../arguments/options.js';
import { toPath } from '../arguments/paths.js';
import { checkOwner } from '../arguments/values.js';
import { awaited, type Eventual, type FsProcedure } from '../fs-driver.js';
import { type Facade, type NodeFunction, nodeFunction } from '../node-function.js';
import { type BigIntStats, type Stats, toBigIntStats, toStats } from '../results/stats.js';

interface StatCall {
  readonly path: string;
  readonly bigint: boolean;
}

interface StatSyncCall extends StatCall {
  readonly mayMiss: boolean;
}

type Look = 'stat' | 'lstat';

function statOf(method: Look): NodeFunction<StatCall, Stats | BigIntStats> {
  return nodeFunction(
    2,
    (_, path, options = {}) => ({ path: toPath(path), bigint: isBigint(options as Given) }),
    (facade, call) => look(facade, method, call),
  );
}

/** The synchronous form can return undefined for a missing path. */
function statSyncOf(method: Look): NodeFunction<StatSyncCall, Stats | BigIntStats | undefined> {
  return nodeFunction(
    2,
    (_, path, options = {}) => ({
      path: toPath(path),
      bigint: isBigint(options as Given),
      mayMiss: (options as Given)['throwIfNoEntry'] === false,
    }),
    (facade, call) =>
      call.mayMiss ? facade.driver.run(orMissing(() => look(facade, method, call))) : look(facade, method, call),
  );
}

function look({ driver }: Facade, method: Look, { path, bigint }: StatCall): Eventual<Stats | BigIntStats> {
  return driver.map<CoreStats, Stats | BigIntStats>(driver.fs[method](path), bigint ? toBigIntStats : toStats);
}

function* orMissing<R>(look: () => Eventual<R>): FsProcedure<R | undefined> {
  try {
    return yield* awaited(look());
  } catch (error) {
    if (isFsError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

export const stat = statOf('stat');
export const lstat = statOf('lstat');
export const statSync = statSyncOf('stat');
export const lstatSync = statSyncOf('lstat');

export const access = nodeFunction(
  2,
  (_, path, mode) => ({ path: toPath(path), mode: toBits(mode) }),
  ({ driver }, { path, mode }) => driver.fs.access(path, mode),
);

export const chmod = nodeFunction(
  2,
  (_, path, mode) => ({ path: toPath(path), mode: toMode(mode) }),
  ({ driver }, { path, mode }) => driver.fs.chmod(path, mode),
);

function chownOf(method: 'chown' | 'lchown') {
  return nodeFunction(
    3,
    (_, path, uid, gid) => ({ path: toPath(path), uid: checkOwner(uid, 'uid'), gid: checkOwner(gid, 'gid') }),
    ({ driver }, { path, uid, gid }) => driver.fs[method](path, uid, gid),
  );
}

export const chown = chownOf('chown');
export const lchown = chownOf('lchown');
