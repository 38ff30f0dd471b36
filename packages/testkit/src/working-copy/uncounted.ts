import { type Backend, type LoadResult, type NodeRecord, UNKNOWN_VERSION } from '@scratchfs/core';

/** Returns a backend that does not count the entries under a directory, like a disk. */
export function uncounted(backend: Backend): Backend {
  return {
    capabilities: { checkpoints: false, forks: false, sharedWatch: false },
    load: async (requests, call) => (await backend.load(requests, call)).map(withoutCounts),
    commit: (batch, call) => backend.commit(batch, call),
    outcome: (operationId, call) => backend.outcome(operationId, call),
    close: () => backend.close(),
  };
}

function withoutCounts(result: LoadResult): LoadResult {
  if (result.kind === 'path') return { ...result, nodes: result.nodes.map((node) => node && nodeWithoutCounts(node)) };
  if (result.kind === 'list')
    return { ...result, directory: nodeWithoutCounts(result.directory), nodes: result.nodes.map(nodeWithoutCounts) };
  if (result.kind !== 'tree') return result;
  const listings = result.listings.map((listing) => ({ ...listing, nodes: listing.nodes.map(nodeWithoutCounts) }));
  return { ...result, directory: nodeWithoutCounts(result.directory), listings };
}

function nodeWithoutCounts(record: NodeRecord): NodeRecord {
  if (record.directory === undefined) return record;
  const totals = { size: 0, files: 0, directories: 0, linked: 0 };
  return { ...record, directory: { ...record.directory, totals, tree: UNKNOWN_VERSION, counted: false } };
}
