import type { Given } from '../arguments/options.js';
import { toPath } from '../arguments/paths.js';
import { checkObject, checkString } from '../arguments/values.js';
import { operation } from '../operation.js';

/** `openAsBlob`: what the file holds now; later changes do not reach it. */
export const openAsBlob = operation(
  2,
  (_, path, options = {}) => {
    const type = (checkObject(options, 'options') as Given)['type'] || '';
    return { type: checkString(type, 'options.type'), path: toPath(path) };
  },
  ({ door }, { path, type }) => door.map(door.fs.readFile(path), (bytes) => new Blob([bytes], { type })),
);
