import type { Backend, Batch, Check, CommitResult, LoadResult, Write } from '@scratchfs/core';
import type { Random } from '@scratchfs/testkit';
import { replace } from './linearizability.js';

type Bug = (backend: Backend, random: Random) => Backend;

const withBatch =
  (change: (batch: Batch, random: Random) => Batch): Bug =>
  (backend, random) =>
    replace(backend, { commit: (batch, call) => backend.commit(change(batch, random), call) });

const withoutChecks = (drop: (check: Check) => boolean): Bug =>
  withBatch((batch) => ({ ...batch, checks: batch.checks.filter((check) => !drop(check)) }));

const withWrites = (change: (writes: readonly Write[], random: Random) => readonly Write[]): Bug =>
  withBatch((batch, random) => ({ ...batch, writes: change(batch.writes, random) }));

let copies = 0;

/** Realistic bugs of storages and engines, each between a client and a correct storage. */
export const PLANTED_BUGS: Readonly<Record<string, { readonly bug: Bug; readonly faults?: number }>> = {
  'ignores all checks': { bug: withoutChecks(() => true) },
  'ignores versions of entries': {
    bug: withBatch((batch) => ({
      ...batch,
      checks: batch.checks.map((check) => (check.kind === 'entry' ? { ...check, version: undefined } : check)),
    })),
  },
  'ignores that names must be absent': { bug: withoutChecks((check) => check.kind === 'entry' && check.id === null) },
  'ignores which node a name leads to': { bug: withoutChecks((check) => check.kind === 'entry' && check.id !== null) },
  'ignores listings, trees and emptiness': { bug: withoutChecks((check) => check.kind !== 'entry') },
  'checks only the first condition': { bug: withBatch((batch) => ({ ...batch, checks: batch.checks.slice(0, 1) })) },
  'acknowledges without writing, now and then': {
    bug: (backend, random) =>
      replace(backend, {
        commit: async (batch, call) =>
          batch.writes.length > 0 && random.chance(0.05)
            ? { kind: 'ok', version: `lost ${(copies += 1)}` }
            : backend.commit(batch, call),
      }),
  },
  'says conflict after writing, now and then': {
    bug: (backend, random) =>
      replace(backend, {
        async commit(batch, call) {
          const result = await backend.commit(batch, call);
          return result.kind === 'ok' && batch.writes.length > 0 && random.chance(0.05)
            ? { kind: 'conflict', checks: [0] }
            : result;
        },
      }),
  },
  'says ok for a conflict, now and then': {
    bug: (backend, random) =>
      replace(backend, {
        async commit(batch, call) {
          const result = await backend.commit(batch, call);
          return result.kind === 'conflict' && random.chance(0.3)
            ? { kind: 'ok', version: `never ${(copies += 1)}` }
            : result;
        },
      }),
  },
  'applies a batch twice, now and then': {
    bug: (backend, random) =>
      replace(backend, {
        async commit(batch, call) {
          const result = await backend.commit(batch, call);
          if (result.kind === 'ok' && random.chance(0.1)) {
            await backend
              .commit({ ...batch, checks: [], operationId: `${batch.operationId} again ${(copies += 1)}` }, call)
              .catch(() => undefined);
          }
          return result;
        },
      }),
  },
  'forgets operation ids': {
    faults: 0.2,
    bug: withBatch((batch) => ({ ...batch, checks: [], operationId: `${batch.operationId} ${(copies += 1)}` })),
  },
  'drops the last write of a batch': {
    bug: withWrites((writes, random) => (writes.length > 1 && random.chance(0.3) ? writes.slice(0, -1) : writes)),
  },
  'drops the first write of a batch': {
    bug: withWrites((writes, random) => (writes.length > 1 && random.chance(0.3) ? writes.slice(1) : writes)),
  },
  'answers from a state of long ago, now and then': {
    bug: (backend, random) => {
      const old = new Map<string, Promise<readonly LoadResult[]>>();
      return replace(backend, {
        load(requests, call) {
          const key = JSON.stringify(requests);
          const known = old.get(key);
          if (known !== undefined && random.chance(0.5)) return known;
          const answer = backend.load(requests, call);
          old.set(key, answer);
          return answer;
        },
        commit: (batch, call) => backend.commit(batch.writes.length === 0 ? { ...batch, checks: [] } : batch, call),
      });
    },
  },
  'shows trees as they were when they were first asked for': {
    bug: (backend) => {
      const first = new Map<string, LoadResult>();
      return replace(backend, {
        async load(requests, call) {
          const results = await backend.load(requests, call);
          return results.map((result, i) => {
            const request = requests[i];
            if (request?.kind !== 'tree') return result;
            const key = JSON.stringify(request);
            const known = first.get(key) ?? result;
            first.set(key, known);
            return known;
          });
        },
      });
    },
  },
  'confirms reads without looking': {
    bug: (backend) => {
      const seen = new Map<string, Promise<readonly LoadResult[]>>();
      return replace(backend, {
        load(requests, call) {
          const key = JSON.stringify(requests);
          const known = seen.get(key);
          const answer = known ?? backend.load(requests, call);
          if (known === undefined) seen.set(key, answer);
          else seen.delete(key);
          return answer;
        },
        commit: (batch, call) =>
          batch.writes.length === 0
            ? Promise.resolve<CommitResult>({ kind: 'ok', version: 'unseen' })
            : backend.commit(batch, call),
      });
    },
  },
  'writes the parts of a file at its beginning': {
    bug: withWrites((writes) =>
      writes.map((write) =>
        write.kind === 'write' ? { ...write, parts: write.parts.map((part) => ({ ...part, offset: 0 })) } : write,
      ),
    ),
  },
  'leaves the source of a move': {
    bug: withWrites((writes, random) =>
      writes.map((write) => (write.kind === 'move' && random.chance(0.5) ? copyOf(write) : write)),
    ),
  },
  'says that a lost batch was never applied': {
    faults: 0.2,
    bug: (backend) => replace(backend, { outcome: async () => 'absent' }),
  },
  'says that a lost batch was applied': {
    faults: 0.2,
    bug: (backend) => replace(backend, { outcome: async () => ({ kind: 'ok', version: `guessed ${(copies += 1)}` }) }),
  },
  'acknowledges before it writes': {
    bug: (backend, random) => {
      let late: (() => Promise<unknown>) | undefined;
      return replace(backend, {
        async commit(batch, call) {
          await late?.();
          late = undefined;
          if (batch.writes.length === 0 || random.chance(0.7)) return backend.commit(batch, call);
          const empty = await backend.commit({ ...batch, writes: [], operationId: `${batch.operationId} first` }, call);
          if (empty.kind === 'ok') late = () => backend.commit(batch).catch(() => undefined);
          return empty;
        },
      });
    },
  },
  'commits half of a batch, then the other half': {
    bug: (backend) =>
      replace(backend, {
        async commit(batch, call) {
          if (batch.writes.length < 2) return backend.commit(batch, call);
          const half = batch.writes.length >> 1;
          const first = await backend.commit(
            { ...batch, writes: batch.writes.slice(0, half), operationId: `${batch.operationId} 1` },
            call,
          );
          if (first.kind !== 'ok') return first;
          for (let i = 0; i < 30; i++) await null;
          return backend.commit(
            { ...batch, checks: [], writes: batch.writes.slice(half), operationId: `${batch.operationId} 2` },
            call,
          );
        },
      }),
  },
};

function copyOf(write: Extract<Write, { kind: 'move' }>): Write {
  const meta = { mode: 0o644, uid: 0, gid: 0, atime: 0, mtime: 0, ctime: 0, birthtime: 0 };
  return {
    kind: 'copy',
    from: write.from,
    to: write.to,
    id: `copy ${(copies += 1)}`,
    meta,
    time: 0,
    keepTimes: false,
  } as Write;
}
