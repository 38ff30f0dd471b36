import { toPath } from '../arguments/paths.js';
import { nodeFunction } from '../node-function.js';

/** Never fails: an invalid path does not exist. */
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
