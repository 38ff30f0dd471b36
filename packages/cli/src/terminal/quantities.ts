/** Returns a number with its noun: `1 file`, `2 files`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  // Not toLocaleString(), which took 15 ms to load its data.
  const digits = String(number).replace(/\B(?=(?:\d{3})+$)/g, ',');
  return `${digits} ${number === 1 ? noun : plural}`;
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Returns a number of bytes in the largest unit of which it has at least one, up to TiB. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  if (unit === 0) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

/** Returns a time as local time: today with seconds but no date, other days with the date but no seconds. */
export function timeText(milliseconds: number, now: number): string {
  const date = new Date(milliseconds);
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  const isToday = new Date(now).toDateString() === date.toDateString();
  return isToday ? `${time}:${two(date.getSeconds())}` : `${day} ${time}`;
}

/** Returns an age: `just now`, `5 minutes ago`. */
export function ageText(milliseconds: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - milliseconds) / 1000));
  if (seconds < 45) return 'just now';
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${count(minutes, 'minute')} ago`;
  const hours = Math.round(minutes / 60);
  if (hours < 36) return `${count(hours, 'hour')} ago`;
  return `${count(Math.round(hours / 24), 'day')} ago`;
}
