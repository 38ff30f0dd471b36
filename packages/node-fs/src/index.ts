export type { NodeFsOptions } from './facade.js';
export { type AsyncNodeFs, createNodeFs, type NodeFs } from './node/create-node-fs.js';
export type {
  DisposableDirectory,
  GlobOptions,
  GlobOptionsWithFileTypes,
  LaterFunctions,
  LaterPromises,
} from './node/later-functions.js';
