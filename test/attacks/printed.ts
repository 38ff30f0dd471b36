import type { ChildProcess } from 'node:child_process';

/** Resolves when a program has printed a text. */
export function printed(child: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      seen += String(chunk);
      if (seen.includes(text)) resolve();
    });
    child.on('close', () => reject(new Error(`The program ended before it printed ${text}`)));
  });
}
