import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { ReadStream } from 'node:tty';

/**
 * Asks on the terminal itself, not on stdin, which an agent could feed. Only `yes` is a yes.
 * @throws Error if there is no terminal
 */
export async function isConfirmed(question: string): Promise<boolean> {
  let terminal: number;
  try {
    terminal = openSync('/dev/tty', 'r+');
  } catch (cause) {
    throw new Error('There is no terminal to ask on: run this in one yourself', { cause });
  }
  const input = new ReadStream(terminal);
  const lines = createInterface({ input, terminal: false });
  try {
    process.stdout.write(question);
    const closed = once(lines, 'close').then(() => '');
    return (await Promise.race([lines.question(''), closed])).trim() === 'yes';
  } finally {
    lines.close();
    input.destroy();
  }
}
