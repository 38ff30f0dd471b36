import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createFileSystem } from 'scratchfs';

const [url] = process.argv.slice(2);
if (url === undefined) throw new Error('Say where the files are: s3://bucket/prefix?region=eu-central-1');

const TEXTS = ['the quick brown fox', 'jumps over', 'the lazy dog'];

/**
 * Runs an invocation in its own process, without shared memory. Resolves to its exit code, or null if it was killed.
 */
async function invoke(...args: string[]): Promise<number | null> {
  const program = fileURLToPath(new URL('./invocation.ts', import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, program, url as string, ...args], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

const fs = await createFileSystem({ storage: url });
for (const folder of ['/inbox', '/done']) await fs.mkdir(folder);
for (const [index, text] of TEXTS.entries()) await fs.writeFile(`/inbox/${index + 1}.txt`, text);

let killed = 0;
for (let count = 1, code: number | null = 2; code !== 0; count++) {
  code = await invoke(...(count === 2 ? ['killed'] : []));
  if (code === null) killed += 1;
}
for (const file of await fs.readdir('/done')) console.log(await fs.readText(`/done/${file}`));
console.log(`${killed} was killed; the journal says ${(await fs.readLines('/journal')).join(' ')}`);
await fs.close();
