import { quote } from '../errors.js';

/** Letters in lower case only, because some disks do not distinguish case. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/;

/** Reports whether a text can be the name of a filesystem among others in one place. */
export function isFileSystemName(name: string): boolean {
  return NAME.test(name);
}

/** Returns a given name, by default `default`. @throws TypeError */
export function checkFileSystemName(name: unknown): string {
  if (name === undefined) return 'default';
  if (typeof name !== 'string') throw new TypeError(`name must be a text, not ${typeof name}`);
  if (!isFileSystemName(name)) {
    throw new TypeError(
      `${quote(name)} cannot be the name of a filesystem. Allowed are 1 to 100 characters of a-z, 0-9, "-", "_" and ` +
        '".", beginning with a letter or digit',
    );
  }
  return name;
}
