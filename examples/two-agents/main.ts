import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createFileSystem } from 'scratchfs';

const [url] = process.argv.slice(2);
if (url === undefined) throw new Error('Say where the server is: redis://127.0.0.1:6379?namespace=two-agents');

const TEXTS = ['the quick brown fox', 'jumps', 'over the lazy dog', 'and goes home', 'to sleep', 'until the next day'];

/** Starts another process that only knows the URL and its own name. Resolves to how it ended. */
function start(name: string, ...args: string[]): Promise<unknown[]> {
  const agent = fileURLToPath(new URL('./agent.ts', import.meta.url));
  const argv = [...process.execArgv, agent, url as string, name, ...args];
  return once(spawn(process.execPath, argv, { stdio: 'inherit' }), 'exit');
}

const fs = await createFileSystem({ storage: url });
await fs.mkdir('/todo');
await fs.mkdir('/doing');
await fs.mkdir('/done');
await fs.mkdir('/agents');
for (const [index, text] of TEXTS.entries()) await fs.writeFile(`/todo/${index + 1}.txt`, text);

// Ben begins alone and is killed during his second task. Ada joins when the first is finished.
const ben = start('ben', '1');
while ((await fs.readdir('/done')).length === 0) await sleep(20);
const ada = start('ada');
const [[adasCode], [, bensSignal]] = await Promise.all([ada, ben]);
console.log(`ada ended with ${adasCode}, ben with ${bensSignal}`);

for (const file of await fs.readdir('/done')) console.log(file, '→', await fs.readText(`/done/${file}`));
const journal = await fs.readLines('/journal');
console.log(`${journal.length} entries in the journal; left over: ${(await fs.readdir('/todo')).length}`);
await fs.close();
