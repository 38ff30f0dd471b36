const UNITS = ['K', 'M', 'G', 'T', 'P'];

/** Formats a size in bytes with units of 1,024, like `ls -h`: `999`, `1.2K`, `34M`. */
export function shortSize(bytes: number): string {
  let size = bytes;
  let unit = '';
  for (const next of UNITS) {
    // Rounded up, so that no file looks smaller than it is.
    if (Math.ceil(size) < 1024) break;
    size /= 1024;
    unit = next;
  }
  if (unit === '') return `${size}`;
  const rounded = size < 10 ? Math.ceil(size * 10) / 10 : Math.ceil(size);
  return `${rounded < 10 ? rounded.toFixed(1) : rounded}${unit}`;
}
