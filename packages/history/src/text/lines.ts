/** A text as lines: the offset of each, and a number that equal lines share. Line ends belong to their lines. */
export interface Lines {
  readonly bytes: Uint8Array;
  /** Offsets of the lines, and of the end. */
  readonly starts: readonly number[];
  readonly numbers: Int32Array;
}

const LF = 10;

/** Splits texts into lines with comparable numbers. */
export function linesOf(texts: readonly Uint8Array[]): Lines[] {
  const known = new Map<string, number>();
  return texts.map((bytes) => {
    const starts = [0];
    for (let at = bytes.indexOf(LF); at >= 0 && at + 1 < bytes.length; at = bytes.indexOf(LF, at + 1))
      starts.push(at + 1);
    if (bytes.length > 0) starts.push(bytes.length);
    const numbers = new Int32Array(starts.length - 1);
    for (let i = 0; i < numbers.length; i++) {
      const key = keyOf(bytes.subarray(starts[i], starts[i + 1]));
      let number = known.get(key);
      if (number === undefined) known.set(key, (number = known.size));
      numbers[i] = number;
    }
    return { bytes, starts, numbers };
  });
}

/** Returns a range of lines. */
export function sliceLines({ bytes, starts, numbers }: Lines, from: number, to: number): Lines {
  return { bytes, starts: starts.slice(from, to + 1), numbers: numbers.subarray(from, to) };
}

const CHUNK_BYTES = 8_192;

/** Converts bytes to a string with one character per byte, because a line need not be UTF-8. */
function keyOf(bytes: Uint8Array): string {
  if (bytes.length <= CHUNK_BYTES) return String.fromCharCode(...bytes);
  let key = '';
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    key += String.fromCharCode(...bytes.subarray(at, at + CHUNK_BYTES));
  return key;
}
