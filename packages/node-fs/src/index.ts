export { type AsyncNodeFs, createNodeFs, type NodeFs, type NodeFsOptions } from './node/create-node-fs.js';
