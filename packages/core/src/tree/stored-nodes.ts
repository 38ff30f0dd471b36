import { type DirectoryRecord, type NodeAddress, type NodeRecord, UNKNOWN_VERSION, type Version } from '../backend.js';
import { Entries } from './entries.js';
import {
  type ChangeId,
  type CopyTimes,
  DirectoryNode,
  FileNode,
  type Node,
  type Origin,
  SymlinkNode,
  Unloaded,
} from './node.js';
import type { Owner } from './owner.js';

/** Creates a node from a backend's record; content and names are loaded on demand. */
export function nodeFromRecord(owner: Owner, record: NodeRecord, path: string): Node {
  const address: NodeAddress = { path, id: record.id };
  const changeId = changeIdOf(record.version);
  if (record.kind === 'symlink') {
    const link = new SymlinkNode(record.id, record.meta, record.target ?? '', record.size, record.outside);
    link.changeId = changeId;
    return link;
  }
  if (record.kind === 'file') {
    const file = new FileNode(record.id, record.meta);
    file.changeId = changeId;
    file.size = record.size;
    if (record.size > 0) file.data = new Unloaded(address, record.version, record.size);
    return file;
  }
  const directory = new DirectoryNode(owner, record.id, record.meta, Entries.empty(owner));
  directory.changeId = changeId;
  if (record.directory !== undefined) adopt(directory, record.directory);
  // A record does not contain the depth of the directory.
  directory.stretch(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  directory.origin = originOf(record, address);
  directory.complete = false;
  return directory;
}

/** Takes the values of a backend's record of the directory. */
function adopt(directory: DirectoryNode, { totals, tree, listing }: DirectoryRecord): void {
  directory.size = totals.size;
  directory.files = totals.files;
  directory.directories = totals.directories;
  directory.linked = totals.linked;
  directory.version = tree;
  directory.listing = listing;
}

/** Applies a newer record of the storage to a directory; local changes of names and times stay. */
export function refreshDirectory(node: DirectoryNode, origin: Origin, record: NodeRecord): void {
  const { meta, directory } = record;
  // A change of names has set the times here, although the rest of the metadata may be outdated.
  const mtime = node.meta.mtime === origin.meta.mtime ? meta.mtime : node.meta.mtime;
  const ctime = node.meta.ctime === origin.meta.ctime ? meta.ctime : node.meta.ctime;
  node.meta = node.meta === origin.meta ? meta : { ...meta, mtime, ctime };
  if (node.changeId === changeIdOf(origin.metaVersion)) node.changeId = changeIdOf(record.version);
  if (directory !== undefined) {
    node.size += directory.totals.size - origin.totals.size;
    node.files += directory.totals.files - origin.totals.files;
    node.directories += directory.totals.directories - origin.totals.directories;
    node.linked += directory.totals.linked - origin.totals.linked;
  }
  node.origin = originOf(record, origin.address, origin.copied);
}

/** Returns the change id of a record's version, which never equals one that this client draws. */
function changeIdOf(version: Version): ChangeId {
  return typeof version === 'number' && version <= 0 ? String(version) : version;
}

/** Returns the origin of a loaded directory, with the versions at the load. */
export function originOf(record: NodeRecord, address: NodeAddress, copied?: CopyTimes): Origin {
  const { version: metaVersion, meta, directory } = record;
  const { listing, tree, totals } = directory ?? NOTHING_KNOWN;
  const uncounted = directory === undefined || directory.counted === false;
  const origin = { address, metaVersion, meta, totals, listing, tree, uncounted };
  return copied === undefined ? origin : { ...origin, copied };
}

const NOTHING_KNOWN: DirectoryRecord = {
  listing: UNKNOWN_VERSION,
  tree: UNKNOWN_VERSION,
  count: 0,
  totals: { size: 0, files: 0, directories: 0, linked: 0 },
};
