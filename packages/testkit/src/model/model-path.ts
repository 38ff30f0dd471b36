/** An error of the model, compared by its code only. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  constructor(readonly code: string) {
    super(code);
  }
}

/**
 * Returns the names of a path, with `..` resolved lexically and stopped at the root: a second implementation of the
 * path rules, character by character.
 */
export function modelPath(path: string): string[] {
  if (typeof path !== 'string') throw new TypeError('path');
  if (path.includes('\0')) throw new TypeError('path');
  checkWellFormed(path);
  if (path.length === 0) throw new ModelError('ENOENT');
  const names: string[] = [];
  let name = '';
  for (const character of `${path}/`) {
    if (character !== '/' && character !== '\\') {
      name += character;
      continue;
    }
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
    name = '';
  }
  if (path.length > 1000 && byteLength(`/${names.join('/')}`) > 4096) throw new ModelError('ENAMETOOLONG');
  if (names.length > 1000) throw new ModelError('ENAMETOOLONG');
  return names;
}

/** Refuses lone surrogates, which iteration yields as separate characters. */
export function checkWellFormed(text: string): void {
  for (const character of text) {
    if (character.length === 1 && character >= '\ud800' && character <= '\udfff') throw new ModelError('EINVAL');
  }
}

export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Compares code points one by one; their order is that of UTF-8 bytes. */
export function compareBytes(a: string, b: string): number {
  const [x, y] = [[...a], [...b]];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    if (x[i] !== y[i]) return (x[i]?.codePointAt(0) as number) - (y[i]?.codePointAt(0) as number);
  }
  return x.length - y.length;
}
