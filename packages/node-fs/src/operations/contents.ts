import { toFlags } from '../arguments/flags.js';
import { toMode } from '../arguments/mode.js';
import { toOptions } from '../arguments/options.js';
import { toPath } from '../arguments/paths.js';
import { operation } from '../operation.js';

export const readFile = operation(
  2,
  ({ platform }, path, options) => {
    const given = toOptions(options, platform);
    toFlags(given['flag'] || 'r', 'options.flag');
    return { path: toPath(path), encoding: (given['encoding'] || undefined) as string | undefined };
  },
  ({ door, platform }, { path, encoding }) => {
    if (encoding === 'utf8' || encoding === 'utf-8') return door.fs.readText(path);
    const bytes = door.fs.readFile(path);
    return door.map(bytes, (all) => (encoding === undefined ? platform.bytes(all) : platform.decode(all, encoding)));
  },
);

export const writeFile = operation(
  3,
  ({ platform, umask }, path, data, options) => {
    const given = toOptions(options, platform);
    const mode = toMode(given['mode'], 0o666) & ~umask;
    return { path: toPath(path), data: data as string | Uint8Array, mode };
  },
  ({ door }, { path, data, mode }) => door.fs.writeFile(path, data, { mode }),
);
