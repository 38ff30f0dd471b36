import { once } from 'node:events';
import { openWorkspace } from '@scratchfs/workspace';
import type { AcceptKill } from './accept-kills.js';

/** Accepts or undoes in several workspaces at the same time, after a line on the standard input. */
const kills = JSON.parse(process.argv[2] ?? '[]') as readonly AcceptKill[];
const work = await Promise.all(
  kills.map(async ({ disk, action, paths }) => {
    const workspace = await openWorkspace(disk);
    const attempt = await workspace.attempt();
    return async () => {
      if (action === 'accept') await attempt.accept({ paths });
      else await attempt.undo();
      await workspace.close();
    };
  }),
);
console.log('ready');
await once(process.stdin, 'data');
await Promise.all(work.map((run) => run()));
console.log('done');
process.stdin.destroy();
