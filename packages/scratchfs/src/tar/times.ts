/**
 * Returns epoch milliseconds as the decimal seconds of a pax header. Exact, except that a number which JavaScript
 * writes with an exponent is rounded to milliseconds.
 */
export function toSeconds(ms: number): string {
  const text = String(Math.abs(ms));
  const [whole, fraction] = (text.includes('e') ? String(Math.round(Math.abs(ms))) : text).split('.') as [
    string,
    string?,
  ];
  const digits = whole.padStart(4, '0');
  const decimals = (digits.slice(-3) + (fraction ?? '')).replace(/0+$/, '');
  const sign = ms < 0 ? '-' : '';
  return `${sign}${digits.slice(0, -3)}${decimals === '' ? '' : `.${decimals}`}`;
}

/** Parses decimal seconds to epoch milliseconds; undefined for other text, and for an invalid Date. */
export function fromSeconds(seconds: string): number | undefined {
  if (!/^-?\d{1,20}(\.\d{0,30})?$/.test(seconds)) return undefined;
  const ms = Number(`${seconds}e3`);
  return Math.abs(ms) <= 8.64e15 ? ms : undefined;
}

/** Returns a time for `utimes`: a Date if that is exact. */
export function asUtime(ms: number): Date | number {
  return Number.isInteger(ms) ? new Date(ms) : ms / 1000;
}
