export { packTar } from './tar/pack-tar.js';
export { type UnpackOptions, unpackTar } from './tar/unpack-tar.js';
