import { type Batch, rootMeta, type Write } from '@scratchfs/core';
import { CommitQueue } from '../../packages/redis/src/commit/commit-queue.js';
import { Sequences } from '../../packages/redis/src/commit/sequences.js';
import { MAIN_STATE } from '../../packages/redis/src/connection/keys.js';
import { SharedResources } from '../../packages/redis/src/shared-resources.js';
import type { RedisLocation } from './clients.js';

/** Runs one request of a script on a field, and may act before and after it. */
export type Interceptor = (run: () => Promise<unknown>, script: string, field: string) => Promise<unknown>;

export interface InterceptedOptions {
  readonly onGarbage?: (waiting: number) => void;
  /** Clock, in milliseconds, that decides when sequence numbers without an outcome are given up. */
  readonly clock?: () => number;
}

/** The commit queue of one client, whose requests pass through an interceptor. */
export interface Intercepted {
  readonly shared: SharedResources;
  readonly sequences: Sequences;
  readonly commits: CommitQueue;
}

export function interceptCommits(
  { url, namespace }: RedisLocation,
  around: Interceptor,
  { onGarbage = () => {}, clock = () => performance.now() }: InterceptedOptions = {},
): Intercepted {
  const shared = new SharedResources(url, { namespace });
  shared.retain();
  const { session } = shared;
  const run = session.run.bind(session);
  Object.assign(session, {
    run: (...args: Parameters<typeof run>) => around(() => run(...args), args[0].name, args[1]),
  });
  const sequences = new Sequences(clock);
  const commits = new CommitQueue(session, sequences, MAIN_STATE, onGarbage, () => undefined);
  return { shared, sequences, commits };
}

/** Reports whether a field of the head was created for a commit in progress. */
export function isPrivateField(field: string): boolean {
  return /^[gp]\//.test(field);
}

/** Returns the write of a new file whose id is its name. */
export function file(path: string, bytes = 1): Write {
  return {
    kind: 'create',
    path,
    id: path.slice(1),
    type: 'file',
    meta: rootMeta(0),
    content: new Uint8Array(bytes),
  };
}

export function batch(operationId: string, paths: readonly string[]): Batch {
  return { operationId, checks: [], writes: paths.map((path) => file(path)), limits: {} };
}
