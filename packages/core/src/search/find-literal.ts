/** UTF-16 units of the anchor: the part of a longer piece that the JavaScript engine's own search looks for. */
const ANCHOR_UNITS = 8;
/** The anchor starts before this position in the piece, in UTF-16 units. */
const MAX_ANCHOR_START = 256;
/** UTF-16 units compared without a match, per unit of text passed, after which Knuth-Morris-Pratt takes over. */
const MAX_WASTED_UNITS_PER_UNIT = 4;
const CANDIDATE_COST_UNITS = 16;

/**
 * Returns a function that finds the next occurrence of a piece of text from a position, or -1. Linear in the text for
 * every piece: the engine's own search takes the product of both lengths in the worst case (V8: 15 s for 4,000 in 2
 * million characters), so it only searches for a short anchor. If comparing the rest fails too often, the algorithm of
 * Knuth, Morris and Pratt continues.
 */
export function findLiteral(text: string, piece: string): (from: number) => number {
  if (piece.length <= ANCHOR_UNITS) return (from) => text.indexOf(piece, from);
  const offset = anchorOf(piece);
  const anchor = piece.slice(offset, offset + ANCHOR_UNITS);
  let borders: Int32Array | undefined;
  return (from) => {
    const start = Math.max(0, from);
    let wasted = 0;
    for (let at = start; ; at++) {
      if (borders || wasted > MAX_WASTED_UNITS_PER_UNIT * (at - start) + 1000) {
        borders ??= bordersOf(piece);
        return findByBorders(text, piece, borders, at);
      }
      at = text.indexOf(anchor, at + offset) - offset;
      if (at < 0 || at + piece.length > text.length) return -1;
      let same = 0;
      while (same < piece.length && text.charCodeAt(at + same) === piece.charCodeAt(same)) same++;
      if (same === piece.length) return at;
      wasted += same + CANDIDATE_COST_UNITS;
    }
  };
}

/** Returns the start of a part with many distinct characters, which usually gives few false candidates. */
function anchorOf(piece: string): number {
  let best = 0;
  let most = 0;
  for (let start = 0; start + ANCHOR_UNITS <= piece.length && start < MAX_ANCHOR_START; start++) {
    const different = new Set(piece.slice(start, start + ANCHOR_UNITS)).size;
    if (different > most) [best, most] = [start, different];
    if (most === ANCHOR_UNITS) break;
  }
  return best;
}

function findByBorders(text: string, piece: string, borders: Int32Array, from: number): number {
  let matched = 0;
  for (let i = from; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    while (matched > 0 && piece.charCodeAt(matched) !== unit) matched = borders[matched - 1] as number;
    if (piece.charCodeAt(matched) === unit) matched++;
    if (matched === piece.length) return i - matched + 1;
  }
  return -1;
}

/** Returns for each prefix the length of its longest proper prefix that is also its suffix. */
function bordersOf(piece: string): Int32Array {
  const borders = new Int32Array(piece.length);
  let length = 0;
  for (let i = 1; i < piece.length; i++) {
    while (length > 0 && piece.charCodeAt(length) !== piece.charCodeAt(i)) length = borders[length - 1] as number;
    if (piece.charCodeAt(length) === piece.charCodeAt(i)) length++;
    borders[i] = length;
  }
  return borders;
}
