import { setTimeout as sleep } from 'node:timers/promises';
import { createFileSystem, type FileSystem, isFsError } from 'scratchfs';

/** Silence in milliseconds after which other agents consider an agent dead. */
const SILENCE_MS = 500;
const BEAT_MS = 100;

const [url, name, crashAt] = process.argv.slice(2) as [string, string, string | undefined];
const say = (text: string) => console.log(`${name}: ${text}`);

/** Claims a task by moving it into the agent's own directory: a rename is atomic, so a later agent finds nothing. */
async function claim(fs: FileSystem, task: string): Promise<boolean> {
  try {
    await fs.rename(`/todo/${task}`, `/doing/${name}/${task}`);
    return true;
  } catch (error) {
    if (isFsError(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Does the work: first a draft, which must never count as a result. */
async function work(fs: FileSystem, task: string, isLast: boolean): Promise<void> {
  const text = await fs.readText(`/doing/${name}/${task}`);
  await fs.writeFile(`/doing/${name}/${task}.draft`, `${text.split(/\s+/).filter(Boolean).length} wor`);
  if (isLast) {
    say(`in the middle of ${task} …`);
    process.kill(process.pid, 'SIGKILL');
  }
  await fs.writeFile(`/doing/${name}/${task}.draft`, `${text.split(/\s+/).filter(Boolean).length} words`);
  // The result appears and the task disappears together, or not at all.
  await fs.transaction(async (tx) => {
    await tx.rename(`/doing/${name}/${task}.draft`, `/done/${task}`);
    await tx.rm(`/doing/${name}/${task}`);
    await tx.appendFile('/journal', `${task} by ${name}\n`);
  });
  say(`${task} is done`);
}

/** Gives the tasks of agents that have been silent for too long back to `/todo`. */
async function bury(fs: FileSystem): Promise<void> {
  for (const other of await fs.readdir('/doing')) {
    if (other === name || Date.now() - (await fs.stat(`/agents/${other}`)).mtimeMs < SILENCE_MS) continue;
    const tasks = await fs.transaction(async (tx) => {
      const begun = (await tx.readdir(`/doing/${other}`)).filter((file) => !file.endsWith('.draft'));
      for (const task of begun) await tx.rename(`/doing/${other}/${task}`, `/todo/${task}`);
      await tx.rm(`/doing/${other}`, { recursive: true });
      return begun;
    });
    say(`${other} is silent; ${tasks.join(', ') || 'nothing'} goes back to the others`);
  }
}

const fs = await createFileSystem({ storage: url });
await fs.mkdir(`/doing/${name}`, { recursive: true });
await fs.writeFile(`/agents/${name}`, '');
const beat = setInterval(() => {
  const now = Date.now();
  // A failed update may be ignored: to the other agents it is only silence.
  fs.utimes(`/agents/${name}`, now / 1000, now / 1000).catch(() => undefined);
}, BEAT_MS);

let finished = 0;
for (;;) {
  const [task] = await fs.readdir('/todo');
  if (task !== undefined) {
    if (!(await claim(fs, task))) continue;
    await work(fs, task, finished === Number(crashAt));
    finished += 1;
    continue;
  }
  const others = (await fs.readdir('/doing')).filter((other) => other !== name);
  const busy = await Promise.all(others.map((other) => fs.readdir(`/doing/${other}`).catch(() => [])));
  if (busy.every((tasks) => tasks.length === 0)) break;
  await sleep(BEAT_MS);
  await bury(fs);
}
clearInterval(beat);
say(`nothing is left to do, I did ${finished}`);
await fs.close();
