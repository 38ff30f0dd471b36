import { type Backend, type LoadResult, type NodeRecord, UNKNOWN_VERSION } from '@scratchfs/core';

/** A backend that does not count the entries under a directory, like a disk. */
export function uncounted(backend: Backend): Backend {
  return {
    capabilities: { checkpoints: false, forks: false, sharedWatch: false },
    load: async (wants, call) => (await backend.load(wants, call)).map(withoutCounts),
    commit: (batch, call) => backend.commit(batch, call),
    outcome: (operationId, call) => backend.outcome(operationId, call),
    close: () => backend.close(),
  };
}

function withoutCounts(facts: LoadResult): LoadResult {
  if (facts.kind === 'path') return { ...facts, nodes: facts.nodes.map((node) => node && nodeWithoutCounts(node)) };
  if (facts.kind === 'list')
    return { ...facts, directory: nodeWithoutCounts(facts.directory), nodes: facts.nodes.map(nodeWithoutCounts) };
  if (facts.kind !== 'tree') return facts;
  const listings = facts.listings.map((listing) => ({ ...listing, nodes: listing.nodes.map(nodeWithoutCounts) }));
  return { ...facts, directory: nodeWithoutCounts(facts.directory), listings };
}

function nodeWithoutCounts(fact: NodeRecord): NodeRecord {
  if (fact.directory === undefined) return fact;
  const totals = { size: 0, files: 0, directories: 0, linked: 0 };
  return { ...fact, directory: { ...fact.directory, totals, tree: UNKNOWN_VERSION, counted: false } };
}
