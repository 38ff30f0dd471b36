import { invalidType } from '../errors/argument-errors.js';

/** A time as the filesystem takes it, or `now` for what Node replaces by the present: numbers below zero. */
export type GivenTime = number | Date | 'now';

/** Where a Date ends, in seconds before and after the epoch. */
const MAX_SECONDS = 8_640_000_000_000;

/** Whether there is such a time: an invalid Date is none. */
export function isTime(time: GivenTime): boolean {
  if (time === 'now') return true;
  return Math.abs(typeof time === 'number' ? time : time.getTime() / 1000) <= MAX_SECONDS;
}

/** Seconds since the epoch, as a number or as text, or a Date. */
export function toTime(value: unknown, name = 'time'): GivenTime {
  if (typeof value === 'string' && !Number.isNaN(Number(value))) return Number(value);
  if (typeof value === 'number' && Number.isFinite(value)) return value < 0 ? 'now' : value;
  if (Object.prototype.toString.call(value) === '[object Date]') return new Date((value as Date).getTime());
  throw invalidType(name, 'an instance of Date or an Time in seconds', value);
}

/** `_toUnixTimestamp`: seconds since the epoch. */
export function toUnixTimestamp(value: unknown, name?: string): number {
  const time = toTime(value, name);
  if (time === 'now') return Date.now() / 1000;
  return typeof time === 'number' ? time : time.getTime() / 1000;
}
