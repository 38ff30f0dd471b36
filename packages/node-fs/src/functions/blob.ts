import type { Given } from '../arguments/options.js';
import { toPath } from '../arguments/paths.js';
import { checkObject, checkString } from '../arguments/values.js';
import { coded } from '../errors/argument-errors.js';
import { type NodeFunction, nodeFunction } from '../node-function.js';

interface BlobCall {
  readonly path: string;
  readonly type: string;
}

/** `openAsBlob`: holds the file's current content; later changes do not affect it. */
export const openAsBlob: NodeFunction<BlobCall, Blob> = nodeFunction(
  2,
  (_, path, options = {}) => {
    const type = (checkObject(options, 'options') as Given)['type'] || '';
    return { type: checkString(type, 'options.type'), path: toPath(path) };
  },
  ({ driver }, { path, type }) => driver.map(driver.fs.readFile(path), (bytes) => new Blob([bytes], { type })),
  (cause) => coded(new TypeError('Unable to open file as blob', { cause }), 'ERR_INVALID_ARG_VALUE'),
);
