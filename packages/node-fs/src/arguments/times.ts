import { invalidType } from '../errors/argument-errors.js';

/** A time as the filesystem takes it, or `now` for negative numbers, which Node replaces by the present. */
export type GivenTime = number | Date | 'now';

/** Greatest absolute time of a Date, in seconds from the epoch. */
const MAX_SECONDS = 8_640_000_000_000;

/** Reports whether a Date can hold the time. An invalid Date returns false. */
export function isTime(time: GivenTime): boolean {
  if (time === 'now') return true;
  return Math.abs(typeof time === 'number' ? time : time.getTime() / 1000) <= MAX_SECONDS;
}

/** Converts a Date, or seconds since the epoch as a number or text. A negative number means now, as in Node. */
export function toTime(value: unknown, name = 'time'): GivenTime {
  if (typeof value === 'string' && !Number.isNaN(Number(value))) return Number(value);
  if (typeof value === 'number' && Number.isFinite(value)) return value < 0 ? 'now' : value;
  if (Object.prototype.toString.call(value) === '[object Date]') return new Date((value as Date).getTime());
  throw invalidType(name, 'an instance of Date or an Time in seconds', value);
}

/** `_toUnixTimestamp`: returns seconds since the epoch. */
export function toUnixTimestamp(value: unknown, name?: string): number {
  const time = toTime(value, name);
  if (time === 'now') return Date.now() / 1000;
  return typeof time === 'number' ? time : time.getTime() / 1000;
}
