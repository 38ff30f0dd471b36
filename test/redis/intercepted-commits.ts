import { type Batch, rootMeta, type Write } from '@scratchfs/core';
import { CommitQueue } from '../../packages/redis/src/commit/commit-queue.js';
import { Sequences } from '../../packages/redis/src/commit/sequences.js';
import { MAIN_STATE } from '../../packages/redis/src/connection/keys.js';
import { SharedResources } from '../../packages/redis/src/shared-resources.js';
import type { RedisLocation } from './clients.js';

/** Runs one request of a script on a field, and may do something before and after. */
export type Interceptor = (run: () => Promise<unknown>, script: string, field: string) => Promise<unknown>;

export interface InterceptedOptions {
  readonly onGarbage?: (waiting: number) => void;
  /** Of the numbers that nobody settles. */
  readonly clock?: () => number;
}

/** The commits of one client, whose requests are seen on their way. */
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

/** Fields of the head that were made for commits on their way. */
export function isPrivateField(field: string): boolean {
  return /^[gp]\//.test(field);
}

/** A new file whose id is its name. */
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
