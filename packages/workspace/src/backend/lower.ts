import type {
  Backend,
  BackendCall,
  LoadRequest,
  LoadResult,
  NodeAddress,
  NodeId,
  NodeRecord,
  Version,
} from '@scratchfs/core';
import { pathSegments, UNKNOWN_VERSION } from '@scratchfs/core';

const NOTHING = { size: 0, files: 0, directories: 0, linked: 0 };

/**
 * The lower directory of an attempt: the user's directory on the disk. Its ids contain the time of birth, because a
 * disk may give the inode number of a removed file to a new one, while an attempt may still have changes of the removed
 * file.
 */
export class Lower {
  /** @param settle called before each read */
  constructor(
    readonly backend: Backend,
    readonly settle?: () => Promise<void>,
  ) {}

  async load(requests: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[]> {
    await this.settle?.();
    const results = await this.backend.load(requests.map(lowerRequest), call);
    return results.map((result, i) => upperResult(result, requests[i] as LoadRequest));
  }

  /** Returns the nodes along each path, from the root on; null for a missing one, which ends the list. */
  async paths(paths: readonly string[], call?: BackendCall): Promise<readonly (readonly (NodeRecord | null)[])[]> {
    if (paths.length === 0) return [];
    const results = await this.load(
      paths.map((path) => ({ kind: 'path', path, content: 0 })),
      call,
    );
    return results.map((result) => (result.kind === 'path' ? result.nodes : []));
  }

  /** Returns the node at a path; undefined if it does not exist. */
  async record(path: string, call?: BackendCall): Promise<NodeRecord | undefined> {
    const [along = []] = await this.paths([path], call);
    return nodeAt(path, along);
  }
}

/** Returns the node at a path, given the nodes along it; undefined if it does not exist. */
export function nodeAt(path: string, along: readonly (NodeRecord | null)[]): NodeRecord | undefined {
  return (along.length === pathSegments(path).length + 1 && along.at(-1)) || undefined;
}

function lowerRequest(request: LoadRequest): LoadRequest {
  return request.kind === 'path' ? request : { ...request, at: lowerAddress(request.at) };
}

function lowerAddress({ path, id }: NodeAddress): NodeAddress {
  const text = String(id);
  const lower = text.slice(text.indexOf('@') + 1);
  return { path, id: text.startsWith('n') ? Number(lower) : lower };
}

function upperRecord(record: NodeRecord): NodeRecord {
  const { kind, meta, version, size, links, target, directory: listed } = record;
  const idType = typeof record.id === 'number' ? 'n' : 's';
  const id: NodeId = [idType, meta.birthtime.toString(36), '@', record.id].join('');
  if (listed !== undefined) {
    const { listing } = listed;
    const directory = { listing, tree: UNKNOWN_VERSION, count: 0, totals: NOTHING, counted: false };
    return { id, kind, meta, version, size, links, directory };
  }
  // A literal is faster than a spread, and most records are of files.
  return target === undefined ? { id, kind, meta, version, size, links } : { ...record, id };
}

function upperResult(result: LoadResult, request: LoadRequest): LoadResult {
  if (result.kind === 'gone') return result;
  if (result.kind === 'path') return { ...result, nodes: result.nodes.map((node) => node && upperRecord(node)) };
  const isAsked = (record: NodeRecord): boolean => request.kind !== 'path' && record.id === request.at.id;
  if (result.kind === 'content') {
    const file = upperRecord(result.file);
    return isAsked(file) ? { ...result, file } : { kind: 'gone' };
  }
  const directory = upperRecord(result.directory);
  if (!isAsked(directory)) return { kind: 'gone' };
  if (result.kind === 'list') return { ...result, directory, nodes: result.nodes.map(upperRecord) };
  return {
    ...result,
    directory,
    listings: result.listings.map((listing) => ({ ...listing, nodes: listing.nodes.map(upperRecord) })),
  };
}

/** Returns the key of a node: its id and, for a file or link, its version. */
export function keyOf({ id, kind, version }: NodeRecord): string {
  return kind === 'directory' ? String(id) : `${id} ${version}`;
}

/** Returns the id of the node that a key is of. The key of a directory is its id. */
export function idOf(key: Version): NodeId {
  return String(key).split(' ', 1)[0] as string;
}
