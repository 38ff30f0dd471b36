import { toMode } from '../arguments/mode.js';
import { encodeName, type Given, nameEncoding, toOptions } from '../arguments/options.js';
import { toPath } from '../arguments/paths.js';
import { checkBoolean } from '../arguments/values.js';
import { operation } from '../operation.js';
import { toDirent } from '../results/dirent.js';

export const mkdir = operation(
  2,
  ({ umask }, path, options) => {
    const given = (typeof options === 'object' ? options : { mode: options }) as Given | null;
    const { recursive = false, mode = 0o777 } = given ?? {};
    return {
      path: toPath(path),
      options: { recursive: checkBoolean(recursive, 'options.recursive'), mode: toMode(mode) & ~umask },
    };
  },
  ({ door }, { path, options }) => door.fs.mkdir(path, options),
);

export const unlink = operation(
  1,
  (_, path) => toPath(path),
  ({ door }, path) => door.fs.unlink(path),
);

export const readdir = operation(
  2,
  ({ platform }, path, options) => {
    const given = toOptions(options, platform);
    return {
      path: toPath(path),
      encoding: nameEncoding(given),
      withFileTypes: Boolean(given['withFileTypes']),
    };
  },
  ({ door, platform }, { path, encoding, withFileTypes }) => {
    const toName = (name: string) => encodeName(name, encoding, platform);
    if (withFileTypes) {
      return door.map(door.fs.readdir(path, { withFileTypes: true }), (entries) =>
        entries.map(({ name, kind }) => toDirent(toName(name), kind, path)),
      );
    }
    const names = door.fs.readdir(path);
    return encoding === 'utf8' ? names : door.map(names, (all) => all.map(toName));
  },
);
