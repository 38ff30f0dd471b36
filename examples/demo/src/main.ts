import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printable, Terminal } from './terminal.js';

const USAGE = `npm run demo [-- <folder>]

Loads a source tree into memory and lets a scripted agent work on it. Without a folder it takes this repository.
Nothing in the folder is changed. The exit code is 0 when everything the demo says was true.`;

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));

async function main(args: readonly string[]): Promise<number> {
  const terminal = new Terminal(process.stdout, process.env);
  if (args.includes('--help') || args.includes('-h')) {
    terminal.line(USAGE);
    return 0;
  }
  const [given, ...rest] = args;
  if (rest.length > 0 || given?.startsWith('-')) {
    console.error(`One folder at most.\n\n${USAGE}`);
    return 2;
  }
  const folder = resolve(given ?? REPOSITORY);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    console.error(`There is no folder ${printable(folder)}`);
    return 2;
  }
  terminal.line();
  terminal.line(`    ${terminal.bold('scratchfs')}  a filesystem in memory for AI agents`);
  try {
    // Loaded after the first line is out.
    const { tell } = await import('./story.js');
    return (await tell({ folder, terminal })) === 0 ? 0 : 1;
  } catch (error) {
    terminal.line();
    console.error(error);
    console.error('\nThe demo could not go on.');
    return 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
