import type { ModelNode } from './model-node.js';

/** The result of the model's `stat`. */
export interface ModelStat {
  kind: ModelNode['kind'];
  ino: number;
  mode: number;
  nlink: number;
  size: number;
  uid: number;
  gid: number;
  atimeMs: number;
  mtimeMs: number;
  ctimeMs: number;
  birthtimeMs: number;
}

/** The result of the model's `getEntry`: the fields of core's `FileEntry`. */
export interface ModelEntry {
  name: string;
  path: string;
  kind: ModelNode['kind'];
  isDirectory: boolean;
  size: number;
  mode: number;
  uid: number;
  gid: number;
  createdAt: number;
  modifiedAt: number;
  changedAt: number;
  accessedAt: number;
  links: number;
  content: Uint8Array<ArrayBuffer>;
  target?: string;
}
