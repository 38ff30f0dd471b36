import type { OpenFlag, OpenFlags, OpenHow } from '../file-system.js';
import { checkBoolean, checkOneOf, checkOptions } from './arguments.js';

/** Open flags, with a value for each. */
export type OpenMode = { readonly [K in keyof OpenHow]-?: boolean };

const KEYS = ['read', 'write', 'append', 'create', 'exclusive', 'truncate', 'noFollow', 'directory'] as const;
const FLAGS: readonly OpenFlag[] = ['r', 'r+', 'w', 'wx', 'w+', 'wx+', 'a', 'ax', 'a+', 'ax+'];

/**
 * @throws TypeError for unknown flags or values, for neither `read` nor `write`, and for `exclusive` without `create`
 */
export function openMode(flags: OpenFlags = 'r'): OpenMode {
  if (typeof flags !== 'object' || flags === null) return modeOfFlag(checkOneOf(flags, FLAGS, 'flags'));
  const given = checkOptions(flags, KEYS, 'open', false);
  const mode = Object.fromEntries(KEYS.map((key) => [key, checkBoolean(given[key], key)])) as OpenMode;
  if (!mode.read && !mode.write) throw new TypeError('A file is opened to read it, to write it, or both');
  if (mode.exclusive && !mode.create) throw new TypeError('exclusive has a meaning only beside create');
  return mode;
}

function modeOfFlag(flag: OpenFlag): OpenMode {
  const plus = flag.endsWith('+');
  return {
    read: flag[0] === 'r' || plus,
    write: flag !== 'r',
    append: flag[0] === 'a',
    create: flag[0] !== 'r',
    exclusive: flag.includes('x'),
    truncate: flag[0] === 'w',
    noFollow: false,
    directory: false,
  };
}

/** Reports whether an open with these flags, or a write through its handle, may create or change a file. */
export function mayChange({ write, create, truncate }: OpenHow): boolean {
  return write === true || create === true || truncate === true;
}
