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

/** Returns a backend with some members replaced, and without `pinRead`, `hasCostlyPins` and `destroy`. */
function changed(backend: Backend, change: Partial<Backend>): Backend {
  const { checkpointStore, limitStore, fork, watch } = backend;
  return {
    capabilities: backend.capabilities,
    load: (requests, call) => backend.load(requests, call),
    commit: (batch, call) => backend.commit(batch, call),
    outcome: (operationId, call) => backend.outcome(operationId, call),
    close: () => backend.close(),
    ...(checkpointStore === undefined ? {} : { checkpointStore }),
    ...(limitStore === undefined ? {} : { limitStore }),
    ...(fork === undefined ? {} : { fork: (call) => fork.call(backend, call) }),
    ...(watch === undefined ? {} : { watch: (tell, fail) => watch.call(backend, tell, fail) }),
    ...change,
  };
}

const onCommit = (backend: Backend, change: (batch: Batch) => Batch): Backend =>
  changed(backend, { commit: (batch, call) => backend.commit(change(batch), call) });

const onResults = (backend: Backend, change: (result: LoadResult, request: LoadRequest) => LoadResult): Backend =>
  changed(backend, {
    load: async (requests, call) =>
      (await backend.load(requests, call)).map((result, i) => change(result, requests[i] as LoadRequest)),
  });

/** Returns a backend with some methods of its checkpoint store replaced, if it has one. */
const onCheckpointStore = (
  backend: Backend,
  change: (checkpointStore: CheckpointStore) => Partial<CheckpointStore>,
): Backend => {
  const { checkpointStore } = backend;
  if (checkpointStore === undefined) return backend;
  const { fork } = checkpointStore;
  return changed(backend, {
    checkpointStore: {
      create: (...args) => checkpointStore.create(...args),
      list: (call) => checkpointStore.list(call),
      restore: (id, limits, call) => checkpointStore.restore(id, limits, call),
      drop: (id, call) => checkpointStore.drop(id, call),
      load: (id, requests, call) => checkpointStore.load(id, requests, call),
      ...(fork === undefined ? {} : { fork: (id, call) => fork.call(checkpointStore, id, call) }),
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

/** Backends with one bug each, over a correct one. A bug in a part that the correct one lacks changes nothing. */
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
  'commits under limits that are not the stored ones': (backend) => {
    const { limitStore } = backend;
    return limitStore === undefined
      ? backend
      : changed(backend, {
          commit: async (batch, call) => backend.commit({ ...batch, limits: await limitStore.open({}) }, call),
        });
  },
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
    onResults(backend, (result) =>
      result.kind === 'list'
        ? { ...result, names: [...result.names].reverse(), nodes: [...result.nodes].reverse() }
        : result,
    ),
  'calls a page of a listing the whole': (backend) =>
    onResults(backend, (result) => (result.kind === 'list' ? { ...result, complete: true } : result)),
  'drops modes': (backend) =>
    onCommit(backend, (batch) => ({
      ...batch,
      writes: batch.writes.map((write) =>
        'meta' in write ? { ...write, meta: { ...write.meta, mode: 0o644 } } : write,
      ),
    })),
  'keeps old totals': (backend) => {
    const known = new Map<string, NonNullable<Extract<LoadResult, { kind: 'path' }>['nodes'][number]>>();
    return onResults(backend, (result) =>
      result.kind !== 'path'
        ? result
        : {
            ...result,
            nodes: result.nodes.map((node) => {
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
    onResults(backend, (result) =>
      result.kind === 'path'
        ? { ...result, nodes: result.nodes.map((node) => (node === null ? null : { ...node, version: 1 })) }
        : result,
    ),
  'answers with the bytes of the whole file': (backend) =>
    changed(backend, {
      load: (requests, call) =>
        backend.load(
          requests.map((request) => (request.kind === 'content' ? { ...request, offset: 0 } : request)),
          call,
        ),
    }),
  'answers the current state for a kept one': (backend) =>
    onCheckpointStore(backend, (checkpointStore) => ({
      load: async (id, requests, call) => {
        const kept = await checkpointStore.load(id, requests, call);
        return kept === 'missing' ? kept : backend.load(requests, call);
      },
    })),
  'forks the current state instead of a kept one': (backend) =>
    onCheckpointStore(backend, (checkpointStore) => ({
      fork: async (id, call) => {
        const kept = await checkpointStore.fork?.(id, call);
        return kept === undefined || kept === 'missing' ? 'missing' : (backend.fork?.(call) ?? 'missing');
      },
    })),
  'still has the states that were dropped': (backend) => onCheckpointStore(backend, () => ({ drop: async () => true })),
  'gives what is kept versions of its own': (backend) =>
    onCheckpointStore(backend, (checkpointStore) => ({
      load: async (id, requests, call) => {
        const kept = await checkpointStore.load(id, requests, call);
        if (kept === 'missing') return kept;
        return kept.map((result) =>
          result.kind === 'path'
            ? {
                ...result,
                nodes: result.nodes.map((node) => node && withVersion(node, (version) => `kept ${version}`)),
              }
            : result,
        );
      },
    })),
  'keeps the versions of what was changed': (backend) => {
    const first = new Map<string, Version>();
    const keep = (result: LoadResult): LoadResult =>
      result.kind !== 'path'
        ? result
        : {
            ...result,
            nodes: result.nodes.map((node) => {
              if (node?.directory === undefined) return node;
              const tree = first.get(String(node.id)) ?? node.directory.tree;
              first.set(String(node.id), tree);
              return { ...node, directory: { ...node.directory, tree } };
            }),
          };
    return onResults(backend, keep);
  },
  'ignores a signal': (backend) =>
    changed(backend, { load: (requests) => backend.load(requests), commit: (batch) => backend.commit(batch) }),
};
