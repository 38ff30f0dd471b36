import type { Backend } from '../backend.js';
import { rootMeta } from '../engine/defaults.js';
import { MemoryExecutor } from '../engine/memory/memory-executor.js';
import { TreeBackend } from '../engine/tree-backend/tree-backend.js';

/** A backend in memory for tests. */
export function sampleBackend(): TreeBackend {
  return new TreeBackend(MemoryExecutor.create(rootMeta(0)));
}

/** Returns a backend with some methods replaced, and without its limit store. */
export function changedBackend(backend: TreeBackend, change: Partial<Backend>): Backend {
  return {
    capabilities: backend.capabilities,
    load: (requests, call) => backend.load(requests, call),
    commit: (batch, call) => backend.commit(batch, call),
    outcome: (id) => backend.outcome(id),
    checkpointStore: backend.checkpointStore,
    fork: () => backend.fork(),
    close: () => backend.close(),
    ...change,
  };
}
