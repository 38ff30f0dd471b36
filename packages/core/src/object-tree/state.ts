import type { Versions } from '../engine/tree-backend/tree-reader.js';
import { Entries } from '../tree/entries.js';
import { DirectoryNode } from '../tree/node.js';
import { Owner } from '../tree/owner.js';
import type { TreeState } from '../tree/tree.js';
import type { StateRecord } from './head.js';
import type { Pages } from './stored-page.js';

/**
 * Opens the tree of a record; its pages are loaded on demand.
 * @throws BytesNotLoaded for the inode table; StorageError `corrupt`
 */
export function openState(record: StateRecord, pages: Pages, versions: Versions): TreeState {
  const meta = { ...record.meta };
  versions.set(meta, record.version);
  const root = DirectoryNode.empty(new Owner(), record.id, meta);
  root.listing = record.listing;
  root.version = record.tree;
  root.size = record.size;
  root.files = record.files;
  root.directories = record.directories;
  root.linked = record.linked;
  root.height = record.height;
  root.reach = record.reach;
  if (record.page !== null)
    root.entries = Entries.fromParts({ root: pages.at(record.page), height: record.levels, count: record.count });
  const inodes = record.inodes === null ? new Map() : pages.inodes(record.inodes);
  return { root, inodes, linkedSize: record.linkedSize, inodesVersion: record.inodesVersion };
}
