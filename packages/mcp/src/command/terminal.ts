import { once } from 'node:events';
import { openSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { ReadStream } from 'node:tty';
import { WorkspaceError } from '@scratchfs/workspace';

/**
 * Shows a text and asks on the terminal itself, not on stdin, which an agent could write to. True if the answer is
 * `yes`.
 * @throws WorkspaceError `refused` if there is no terminal
 */
export async function isConfirmed(question: string, text?: string): Promise<boolean> {
  let terminal: number;
  try {
    terminal = openSync('/dev/tty', 'r+');
  } catch (cause) {
    throw new WorkspaceError('refused', 'There is no terminal to ask on: run this in one yourself', { cause });
  }
  writeFileSync(terminal, text === undefined ? question : `${text}\n\n${question}`);
  const input = new ReadStream(terminal);
  const lines = createInterface({ input, terminal: false });
  try {
    const closed = once(lines, 'close').then(() => '');
    return (await Promise.race([lines.question(''), closed])).trim() === 'yes';
  } finally {
    lines.close();
    input.destroy();
  }
}
