import { createFileSystem } from 'scratchfs';

/** One invocation: it only knows the URL of its files, does one step of the job, and ends or is killed. */
const [url, isKilled] = process.argv.slice(2) as [string, string | undefined];
const fs = await createFileSystem({ storage: url });

const [next] = await fs.readdir('/inbox');
if (next === undefined) {
  console.log('nothing is left to do');
  await fs.close();
  process.exit(0);
}
const text = await fs.readText(`/inbox/${next}`);
// A draft of an earlier invocation may exist: it is overwritten.
await fs.writeFile('/draft', `${next}: ${text.length} char`);
if (isKilled !== undefined) {
  console.log(`in the middle of ${next} …`);
  process.kill(process.pid, 'SIGKILL');
}
await fs.writeFile('/draft', `${next}: ${text.length} characters`);
// Either the result exists and the task is gone, or neither.
await fs.transaction(async (tx) => {
  await tx.rename('/draft', `/done/${next}`);
  await tx.rm(`/inbox/${next}`);
  await tx.appendFile('/journal', `${next}\n`);
});
console.log(`${next} is done`);
await fs.close();
process.exit(2);
