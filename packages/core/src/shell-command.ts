/** Returns words as a command line that a POSIX shell splits into the same words. */
export function shellCommand(words: readonly string[]): string {
  const quoted = (word: string): string =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  return words.map(quoted).join(' ');
}
