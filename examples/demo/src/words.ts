import type { LineMatcher, MatchRange } from 'scratchfs/search';

const WORD = /[\p{ID_Continue}$]/u;

/** Matches lines that contain a name as a whole word: `get`, but not `getAll` or `forget`. */
export function wordMatcher(name: string): LineMatcher {
  return { find: (line) => placesOf(line, name) };
}

/** Replaces a whole word. Returns the text and the number of replacements. */
export function replaceWord(text: string, name: string, replacement: string): { text: string; count: number } {
  const places = placesOf(text, name);
  let end = 0;
  let replaced = '';
  for (const place of places) {
    replaced += text.slice(end, place.start) + replacement;
    end = place.end;
  }
  return { text: replaced + text.slice(end), count: places.length };
}

function placesOf(text: string, name: string): MatchRange[] {
  const places: MatchRange[] = [];
  for (let start = text.indexOf(name); start >= 0; start = text.indexOf(name, start + name.length)) {
    const end = start + name.length;
    if (!WORD.test(text[start - 1] ?? ' ') && !WORD.test(text[end] ?? ' ')) places.push({ start, end });
  }
  return places;
}
