import { createFileSystem } from 'scratchfs';

/**
 * A client in a process of its own: increments the number in `/counter` and then prints it. Arguments: URL of the
 * storage, number of increments.
 */
const [url = '', times = '1'] = process.argv.slice(2);
const fs = await createFileSystem({ storage: url });
process.stdout.write('ready\n');
for (let done = 0; done < Number(times); done++) {
  const value = await fs.transaction(async (tx) => {
    const next = Number(await tx.readText('/counter')) + 1;
    await tx.writeFile('/counter', String(next));
    return next;
  });
  process.stdout.write(`${value}\n`);
}
await fs.close();
