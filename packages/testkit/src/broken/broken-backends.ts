import type {
  Backend,
  Batch,
  CheckpointStore,
  CommitResult,
  LoadRequest,
  LoadResult,
  NodeRecord,
  Version,
} from '@scratchfs/core';

/** Returns a backend with one method replaced. */
function changed(backend: Backend, change: Partial<Backend>): Backend {
  const { checkpointStore, fork, watch } = backend;
  return {
    capabilities: backend.capabilities,
    load: (wants, call) => backend.load(wants, call),
    commit: (batch, call) => backend.commit(batch, call),
    outcome: (operationId, call) => backend.outcome(operationId, call),
    close: () => backend.close(),
    ...(checkpointStore === undefined ? {} : { checkpointStore }),
    ...(fork === undefined ? {} : { fork: (call) => fork.call(backend, call) }),
    ...(watch === undefined ? {} : { watch: (tell) => watch.call(backend, tell) }),
    ...change,
  };
}

const onCommit = (backend: Backend, change: (batch: Batch) => Batch): Backend =>
  changed(backend, { commit: (batch, call) => backend.commit(change(batch), call) });

const onFacts = (backend: Backend, change: (facts: LoadResult, want: LoadRequest) => LoadResult): Backend =>
  changed(backend, {
    load: async (wants, call) =>
      (await backend.load(wants, call)).map((facts, i) => change(facts, wants[i] as LoadRequest)),
  });

/** Returns a backend with one method of its checkpoint store replaced. */
const onCheckpointStore = (
  backend: Backend,
  change: (checkpointStore: CheckpointStore) => Partial<CheckpointStore>,
): Backend => {
  const { checkpointStore } = backend;
  if (checkpointStore === undefined) return backend;
  return changed(backend, {
    checkpointStore: {
      create: (...args) => checkpointStore.create(...args),
      list: (call) => checkpointStore.list(call),
      restore: (id, limits, call) => checkpointStore.restore(id, limits, call),
      drop: (id, call) => checkpointStore.drop(id, call),
      load: (id, wants, call) => checkpointStore.load(id, wants, call),
      ...change(checkpointStore),
    },
  });
};

const withVersion = (node: NodeRecord, version: (version: Version) => Version): NodeRecord => ({
  ...node,
  version: version(node.version),
  ...(node.directory === undefined ? {} : { directory: { ...node.directory, tree: version(node.directory.tree) } }),
});

let ids = 0;

/** Backends with one bug each, over a correct one. */
export const BROKEN_BACKENDS: Readonly<Record<string, (backend: Backend) => Backend>> = {
  'ignores what a commit expects': (backend) => onCommit(backend, (batch) => ({ ...batch, checks: [] })),
  'ignores expected versions': (backend) =>
    onCommit(backend, (batch) => ({
      ...batch,
      checks: batch.checks
        .filter((check) => check.kind !== 'listing' && check.kind !== 'tree')
        .map((check) => (check.kind === 'entry' ? { ...check, version: undefined } : check)),
    })),
  'ignores that a name must be free': (backend) =>
    onCommit(backend, (batch) => ({
      ...batch,
      checks: batch.checks.filter((check) => check.kind !== 'entry' || check.id !== null),
    })),
  'ignores limits': (backend) => onCommit(backend, (batch) => ({ ...batch, limits: {} })),
  'loses the last write of a batch': (backend) =>
    onCommit(backend, (batch) => (batch.writes.length > 1 ? { ...batch, writes: batch.writes.slice(0, -1) } : batch)),
  'commits the writes of a batch one by one': (backend) =>
    changed(backend, {
      async commit(batch, call) {
        let result: CommitResult = await backend.commit(
          { ...batch, writes: [], operationId: `${batch.operationId} checks` },
          call,
        );
        for (const [i, write] of batch.writes.entries()) {
          if (result.kind !== 'ok') return result;
          result = await backend.commit(
            { ...batch, checks: [], writes: [write], operationId: `${batch.operationId} ${i}` },
            call,
          );
        }
        return result;
      },
    }),
  'forgets operation ids': (backend) =>
    onCommit(backend, (batch) => {
      ids += 1;
      return { ...batch, operationId: `${batch.operationId} ${ids}`, checks: [] };
    }),
  'applies what it has said to be absent': (backend) => changed(backend, { outcome: async () => 'absent' }),
  'lists backwards': (backend) =>
    onFacts(backend, (facts) =>
      facts.kind === 'list'
        ? { ...facts, names: [...facts.names].reverse(), nodes: [...facts.nodes].reverse() }
        : facts,
    ),
  'calls a page of a listing the whole': (backend) =>
    onFacts(backend, (facts) => (facts.kind === 'list' ? { ...facts, complete: true } : facts)),
  'drops modes': (backend) =>
    onCommit(backend, (batch) => ({
      ...batch,
      writes: batch.writes.map((write) =>
        'meta' in write ? { ...write, meta: { ...write.meta, mode: 0o644 } } : write,
      ),
    })),
  'keeps old totals': (backend) => {
    const known = new Map<string, NonNullable<Extract<LoadResult, { kind: 'path' }>['nodes'][number]>>();
    return onFacts(backend, (facts) =>
      facts.kind !== 'path'
        ? facts
        : {
            ...facts,
            nodes: facts.nodes.map((node) => {
              if (node?.directory === undefined) return node;
              const first = known.get(String(node.id)) ?? node;
              known.set(String(node.id), first);
              return {
                ...node,
                directory: { ...node.directory, totals: first.directory?.totals ?? node.directory.totals },
              };
            }),
          },
    );
  },
  'never changes a version': (backend) =>
    onFacts(backend, (facts) =>
      facts.kind === 'path'
        ? { ...facts, nodes: facts.nodes.map((node) => (node === null ? null : { ...node, version: 1 })) }
        : facts,
    ),
  'answers with the bytes of the whole file': (backend) =>
    changed(backend, {
      load: (wants, call) =>
        backend.load(
          wants.map((want) => (want.kind === 'content' ? { ...want, offset: 0 } : want)),
          call,
        ),
    }),
  'answers the current state for a kept one': (backend) =>
    onCheckpointStore(backend, (checkpointStore) => ({
      load: async (id, wants, call) => {
        const kept = await checkpointStore.load(id, wants, call);
        return kept === 'missing' ? kept : backend.load(wants, call);
      },
    })),
  'still has the states that were dropped': (backend) => onCheckpointStore(backend, () => ({ drop: async () => true })),
  'gives what is kept versions of its own': (backend) =>
    onCheckpointStore(backend, (checkpointStore) => ({
      load: async (id, wants, call) => {
        const kept = await checkpointStore.load(id, wants, call);
        if (kept === 'missing') return kept;
        return kept.map((facts) =>
          facts.kind === 'path'
            ? {
                ...facts,
                nodes: facts.nodes.map((node) => node && withVersion(node, (version) => `kept ${version}`)),
              }
            : facts,
        );
      },
    })),
  'keeps the versions of what was changed': (backend) => {
    const first = new Map<string, Version>();
    const keep = (facts: LoadResult): LoadResult =>
      facts.kind !== 'path'
        ? facts
        : {
            ...facts,
            nodes: facts.nodes.map((node) => {
              if (node?.directory === undefined) return node;
              const tree = first.get(String(node.id)) ?? node.directory.tree;
              first.set(String(node.id), tree);
              return { ...node, directory: { ...node.directory, tree } };
            }),
          };
    return onFacts(backend, keep);
  },
  'ignores a signal': (backend) =>
    changed(backend, { load: (wants) => backend.load(wants), commit: (batch) => backend.commit(batch) }),
};
