import { constants } from '../constants.js';
import { invalidValue } from '../errors/argument-errors.js';
import { checkInt32 } from './values.js';

const { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_SYNC, O_TRUNC, O_WRONLY } = constants;

const W = O_TRUNC | O_CREAT | O_WRONLY;
const WP = O_TRUNC | O_CREAT | O_RDWR;
const A = O_APPEND | O_CREAT | O_WRONLY;
const AP = O_APPEND | O_CREAT | O_RDWR;

const FLAGS = new Map<unknown, number>([
  ['r', O_RDONLY],
  ['rs', O_RDONLY | O_SYNC],
  ['sr', O_RDONLY | O_SYNC],
  ['r+', O_RDWR],
  ['rs+', O_RDWR | O_SYNC],
  ['sr+', O_RDWR | O_SYNC],
  ['w', W],
  ['wx', W | O_EXCL],
  ['xw', W | O_EXCL],
  ['w+', WP],
  ['wx+', WP | O_EXCL],
  ['xw+', WP | O_EXCL],
  ['a', A],
  ['ax', A | O_EXCL],
  ['xa', A | O_EXCL],
  ['as', A | O_SYNC],
  ['sa', A | O_SYNC],
  ['a+', AP],
  ['ax+', AP | O_EXCL],
  ['xa+', AP | O_EXCL],
  ['as+', AP | O_SYNC],
  ['sa+', AP | O_SYNC],
]);

/** Converts open flags to bits. Null and undefined mean reading. */
export function toFlags(value: unknown, name = 'flags'): number {
  if (typeof value === 'number') return checkInt32(value, name);
  if (value === null || value === undefined) return O_RDONLY;
  const flags = FLAGS.get(value);
  if (flags === undefined) throw invalidValue('flags', value);
  return flags;
}
