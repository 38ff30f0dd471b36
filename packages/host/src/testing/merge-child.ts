import { HostHistory } from '../versions/host-history.js';

/** A process to be killed: brings one version into a repository again and again, as it is told to on its input. */
const [repository = ''] = process.argv.slice(2);
const author = { name: 'A', email: 'a@example.com' };
const versions = new HostHistory({ author, clock: () => 1_700_000_000_000 });
const start = await versions.onboardRepo(repository);
const history = versions.historyOf();
const blobs = Array.from({ length: 40 }, (_, i) => Buffer.from(`after ${i}\n`.repeat(400)));
const objects = blobs.map((body) => ({ type: 'blob', body, id: history.blobId(body) }) as const);
await history.repository.write(objects);
const edits = new Map<string, { mode: '100644'; id: (typeof objects)[number]['id'] } | undefined>();
for (const [i, { id }] of objects.entries()) {
  if (i % 4 === 0) edits.set(`dir-${i}/new-${i}`, { mode: '100644', id });
  else edits.set(`file-${i}`, i % 4 === 1 ? undefined : { mode: '100644', id });
}
edits
  .set('file-2', undefined)
  .set('file-2/inner', { mode: '100644', id: objects[0]?.id as (typeof objects)[number]['id'] });
const tree = await history.editTree(start, edits);
const version = await history.commitTree(tree, { message: 'Proven', parents: [start] });
process.stdout.write(`${version}\n`);
process.stdin.once('data', async () => {
  const { success, message } = await versions.executeMerge(repository, version);
  process.stdout.write(`${JSON.stringify({ success, message })}\n`);
  process.exit();
});
