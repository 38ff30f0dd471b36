/** Reports whether a text matches. Each character stands for one byte (see {@link byteText}). */
export type Matcher = (text: string) => boolean;

type Step =
  | { readonly kind: 'byte'; readonly is: (byte: number) => boolean }
  /** Any number of bytes, of slashes too if `crosses`. */
  | { readonly kind: 'any'; readonly crosses: boolean }
  /** Continues both with the next step and after this many further ones. */
  | { readonly kind: 'skip'; readonly steps: number };

const SLASH = 0x2f;
const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[a-zA-Z0-9]/,
  alpha: /[a-zA-Z]/,
  blank: /[ \t]/,
  cntrl: /\p{Cc}/u,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[\t-\r ]/,
  upper: /[A-Z]/,
  xdigit: /[0-9a-fA-F]/,
};

/** Returns a text with one character for each byte of the UTF-8 form: git's `?` matches a byte. */
export function byteText(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/**
 * Compiles a pattern by the rules of git's `wildmatch` for paths. Matching takes at most time proportional to the
 * length of the pattern times that of the text, because a repository may contain a pattern that is made to take long.
 * @returns undefined for a pattern that matches nothing, such as one with an open class
 */
export function wildmatch(pattern: string): Matcher | undefined {
  const steps: Step[] = [];
  const byte = (is: (byte: number) => boolean): void => void steps.push({ kind: 'byte', is });
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i];
    if (character === '?') byte((given) => given !== SLASH);
    else if (character === '[') {
      const found = parseClass(pattern, i + 1);
      if (found === undefined) return undefined;
      byte(found.is);
      i = found.end;
    } else if (character === '*') {
      const start = i;
      while (pattern[i + 1] === '*') i++;
      const isWhole = (start === 0 || pattern[start - 1] === '/') && [undefined, '/'].includes(pattern[i + 1]);
      if (i === start || !isWhole) steps.push({ kind: 'any', crosses: false });
      else if (pattern[i + 1] === undefined) steps.push({ kind: 'any', crosses: true });
      else {
        // `**/` is any number of directories, also none.
        steps.push({ kind: 'skip', steps: 2 }, { kind: 'any', crosses: true });
        byte((given) => given === SLASH);
        i++;
      }
    } else {
      if (character === '\\') i++;
      if (i === pattern.length) return undefined;
      const wanted = pattern.charCodeAt(i);
      byte((given) => given === wanted);
    }
  }
  return (text) => run(steps, text);
}

/** Follows all possible ways through the steps at the same time. */
function run(steps: readonly Step[], text: string): boolean {
  let now = new Set<number>();
  enter(steps, now, 0);
  for (let i = 0; i < text.length && now.size > 0; i++) {
    const byte = text.charCodeAt(i);
    const next = new Set<number>();
    for (const at of now) {
      const step = steps[at];
      if (step?.kind === 'byte' && step.is(byte)) enter(steps, next, at + 1);
      else if (step?.kind === 'any' && (step.crosses || byte !== SLASH)) enter(steps, next, at);
    }
    now = next;
  }
  return now.has(steps.length);
}

function enter(steps: readonly Step[], states: Set<number>, first: number): void {
  for (let at = first; !states.has(at); at++) {
    states.add(at);
    const step = steps[at];
    if (step?.kind === 'skip') enter(steps, states, at + 1 + step.steps);
    else if (step?.kind !== 'any') return;
  }
}

/**
 * Parses a class whose content starts at `start`; `end` is the position of its `]`. Returns undefined if it is not
 * valid.
 */
function parseClass(
  pattern: string,
  start: number,
): { readonly is: (byte: number) => boolean; readonly end: number } | undefined {
  const isNegated = pattern[start] === '!' || pattern[start] === '^';
  const first = isNegated ? start + 1 : start;
  const tests: ((byte: number) => boolean)[] = [];
  /** Byte that begins a range if a `-` follows. */
  let previous: number | undefined;
  for (let i = first; ; i++) {
    let character = pattern[i];
    if (character === undefined) return undefined;
    if (character === ']' && i > first) {
      const is = (byte: number): boolean => byte !== SLASH && tests.some((test) => test(byte)) !== isNegated;
      return { is, end: i };
    }
    const isRange = character === '-' && previous !== undefined && ![undefined, ']'].includes(pattern[i + 1]);
    if (isRange) character = pattern[++i] as string;
    else if (character === '[' && pattern[i + 1] === ':') {
      const end = pattern.indexOf(']', i + 2);
      if (end < 0) return undefined;
      if (pattern[end - 1] === ':' && end - 1 >= i + 2) {
        const known = CLASSES[pattern.slice(i + 2, end - 1)];
        if (known === undefined) return undefined;
        tests.push((byte) => known.test(String.fromCharCode(byte)));
        previous = undefined;
        i = end;
        continue;
      }
      // Without `:]` the bracket is literal.
    }
    if (character === '\\') {
      character = pattern[++i];
      if (character === undefined) return undefined;
    }
    const code = character.charCodeAt(0);
    if (isRange) {
      const from = previous as number;
      tests.push((byte) => byte >= from && byte <= code);
      previous = undefined;
    } else {
      tests.push((byte) => byte === code);
      previous = code;
    }
  }
}
