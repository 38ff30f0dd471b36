import { recoverMerge } from '../merge/execute-merge.js';
import { HostHistory } from '../versions/host-history.js';
import { TURNS } from './kinds.js';

/**
 * A process to be killed. It starts when it reads from its input, and merges a version into a repository or recovers
 * one.
 */
const [task = '', repository = ''] = process.argv.slice(2);
const work = task === 'recover' ? () => recoverMerge(repository) : await merge();
process.stdout.write('ready\n');
process.stdin.once('data', async () => {
  process.stdout.write(`${JSON.stringify(await work().catch(String))}\n`);
  process.exit();
});

async function merge() {
  const author = { name: 'A', email: 'a@example.com' };
  const versions = new HostHistory({ author, clock: () => 1_700_000_000_000 });
  const start = await versions.onboardRepo(repository);
  const history = versions.historyOf();
  const entries = TURNS.flatMap(({ path, after }) =>
    after.map(({ at, mode, content }) => {
      const body = Buffer.from(content);
      return { path: path + at, mode, object: { type: 'blob', body, id: history.blobId(body) } as const };
    }),
  );
  await history.repository.write(entries.map(({ object }) => object));
  const gone = TURNS.flatMap(({ path, before }) => before.map(({ at }) => [path + at, undefined] as const));
  const come = entries.map(({ path, mode, object: { id } }) => [path, { mode, id }] as const);
  const tree = await history.editTree(start, new Map([...gone, ...come]));
  const version = await history.commitTree(tree, { message: 'Proven', parents: [start] });
  return () => versions.executeMerge(repository, version);
}
