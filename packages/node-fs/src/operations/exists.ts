import { toPath } from '../arguments/paths.js';
import { operation } from '../operation.js';

/** Never fails: an invalid path does not exist. */
export const exists = operation(
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
