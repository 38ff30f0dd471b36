import { toPath } from '../arguments/paths.js';
import { nodeFunction } from '../node-function.js';

/** A path that is not valid counts as missing. */
export const exists = nodeFunction(
  1,
  (_, path) => {
    try {
      return toPath(path);
    } catch {
      return undefined;
    }
  },
  ({ driver }, path) => (path === undefined ? false : driver.fs.exists(path)),
);
