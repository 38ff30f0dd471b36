import { once } from 'node:events';
import { isFsError } from '@scratchfs/core';
import { openWorkspace, WorkspaceError } from '@scratchfs/workspace';

/** Changes live workspaces, several at the same time, after a line on the standard input. */
const [name = '', rounds = '0', ...disks] = process.argv.slice(2);
const all = await Promise.all(
  disks.map(async (disk) => {
    const workspace = await openWorkspace(disk, { live: true });
    return { workspace, attempt: await workspace.attempt() };
  }),
);
console.log('ready');
await once(process.stdin, 'data');
await Promise.all(
  all.map(async ({ workspace, attempt }) => {
    for (let i = 0; i < Number(rounds); i++) {
      const own = `/${name}${i}`;
      await attempt.operation({ tool: name }, async (fs) => {
        await fs.appendFile('/shared', `${own}\n`);
        await fs.mkdir(own);
        await fs.writeFile(`${own}/file`, 'x'.repeat(1000));
        await fs.cp('/run', `${own}/run`);
        await fs.rm(`/old-${name}${i}`);
      });
      // The other process may have taken back what this one has just made.
      const taken = async (): Promise<void> => {
        await attempt.fileSystem.rename(own, `${own}-moved`);
        await attempt.undo();
      };
      await taken().catch((error: unknown) => {
        if (!(error instanceof WorkspaceError) && !isFsError(error)) throw error;
      });
      console.log(`acknowledged ${name}${i}`);
    }
    await workspace.close();
  }),
);
console.log('done');
process.stdin.destroy();
