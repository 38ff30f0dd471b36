import type { Backend, BackendCall, CheckpointStore, LoadRequest, LoadResult } from '../../backend.js';
import { checkpointIsReadOnly } from '../checkpoint-guard.js';
import { noCheckpoint } from '../wanted-checkpoint.js';

/**
 * Returns a read-only backend of the state of a checkpoint. That state never changes, so reads need no confirmation.
 * Once the checkpoint has been dropped, loads fail with ENOENT.
 */
export function checkpointBackend(store: CheckpointStore, id: string, transactions = true): Backend {
  const load = async (requests: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[]> => {
    const results = await store.load(id, requests, call);
    if (results === 'missing') throw noCheckpoint('at', id);
    return results;
  };
  const refuse = async (): Promise<never> => {
    throw checkpointIsReadOnly('checkpoint');
  };
  return {
    capabilities: { checkpoints: false, forks: true, sharedWatch: true, writes: false, transactions },
    load,
    async commit({ writes }) {
      if (writes.length > 0) throw checkpointIsReadOnly('run');
      return { kind: 'ok', version: 0 };
    },
    outcome: async () => 'absent',
    pinRead: async () => ({ load }),
    checkpointStore: {
      create: refuse,
      restore: refuse,
      drop: refuse,
      list: async () => [],
      load: async () => 'missing',
    },
    fork: async () => checkpointBackend(store, id, transactions),
    // Nothing changes, so there is nothing to report.
    watch: () => () => {},
    close: async () => {},
  };
}
