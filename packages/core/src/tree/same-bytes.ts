/** Reports whether the first `length` bytes are equal; bytes beyond the end of an array count as zero. */
export function sameBytes(a: Uint8Array, b: Uint8Array, length: number): boolean {
  const common = Math.min(a.length, b.length, length);
  return sameStart(a, b, common) && isZero(a, common, length) && isZero(b, common, length);
}

function sameStart(a: Uint8Array, b: Uint8Array, length: number): boolean {
  let at = 0;
  if (a.byteOffset % 4 === 0 && b.byteOffset % 4 === 0) {
    const words = Math.floor(length / 4);
    const x = new Uint32Array(a.buffer, a.byteOffset, words);
    const y = new Uint32Array(b.buffer, b.byteOffset, words);
    for (let i = 0; i < words; i++) {
      if (x[i] !== y[i]) return false;
    }
    at = words * 4;
  }
  for (; at < length; at++) {
    if (a[at] !== b[at]) return false;
  }
  return true;
}

function isZero(bytes: Uint8Array, from: number, to: number): boolean {
  const end = Math.min(to, bytes.length);
  for (let at = from; at < end; at++) {
    if (bytes[at] !== 0) return false;
  }
  return true;
}
