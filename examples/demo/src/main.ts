import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { printable, Terminal } from './terminal.js';

const USAGE = `npm run demo [-- <folder>] [--storage redis://host:6379/0?namespace=name | s3://bucket/prefix]

Loads a source tree into memory and lets a scripted agent work on it. Without a folder it takes this repository.
Nothing in the folder is changed. With --storage it also goes on in a storage that processes share; what that names must
be empty, and is empty afterwards. The exit code is 0 when everything the demo says was true.`;

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));

async function main(args: readonly string[]): Promise<number> {
  const terminal = new Terminal(process.stdout, process.env);
  if (args.includes('--help') || args.includes('-h')) {
    terminal.line(USAGE);
    return 0;
  }
  const { values, positionals } = parsed(args) ?? { values: {}, positionals: ['', ''] };
  const [given, ...rest] = positionals;
  if (rest.length > 0) {
    console.error(`One folder at most, and --storage with a URL.\n\n${USAGE}`);
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
    // Loaded after the first line is printed.
    const { tell } = await import('./story.js');
    return (await tell({ folder, terminal, storage: values.storage })) === 0 ? 0 : 1;
  } catch (error) {
    terminal.line();
    console.error(error);
    console.error('\nThe demo could not go on.');
    return 1;
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: { storage: { type: 'string' } }, allowPositionals: true });
  } catch {
    return undefined;
  }
}

process.exitCode = await main(process.argv.slice(2));
