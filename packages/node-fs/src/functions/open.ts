import { toFlags } from '../arguments/flags.js';
import { toMode } from '../arguments/mode.js';
import { toPath } from '../arguments/paths.js';
import { nodeFunction } from '../node-function.js';
import { openFile } from '../open-file.js';

export const open = nodeFunction(
  3,
  ({ umask }, path, flags, mode) => ({
    path: toPath(path),
    flags: toFlags(flags),
    mode: toMode(mode, 0o666) & ~umask,
  }),
  ({ driver, descriptors }, { path, flags, mode }) =>
    driver.map(openFile(driver, path, flags, mode), (descriptor) => descriptors.add(descriptor)),
);
