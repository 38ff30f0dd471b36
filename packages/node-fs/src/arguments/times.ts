import { invalidType } from '../errors/argument-errors.js';

/** A time as the filesystem takes it, or `now` for what Node replaces by the present: numbers below zero. */
export type GivenTime = number | Date | 'now';

/** Seconds since the epoch, as a number or as text, or a Date. */
export function toTime(value: unknown, name = 'time'): GivenTime {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof seconds === 'number' && Number.isFinite(seconds)) {
    return seconds < 0 && typeof value === 'number' ? 'now' : seconds;
  }
  if (Object.prototype.toString.call(value) === '[object Date]') return new Date((value as Date).getTime());
  throw invalidType(name, 'an instance of Date or an Time in seconds', value);
}

/** `_toUnixTimestamp`: seconds since the epoch. */
export function toUnixTimestamp(value: unknown, name?: string): number {
  const time = toTime(value, name);
  if (time === 'now') return Date.now() / 1000;
  return typeof time === 'number' ? time : time.getTime() / 1000;
}
