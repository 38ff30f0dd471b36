import { applyChanges, loadDirectory } from '@scratchfs/host';
import { createBashFs } from '@scratchfs/node-fs/bash';
import { Sandbox } from '@scratchfs/sandbox';
import { createFileTools } from '@scratchfs/tools';
import { Bash } from 'just-bash';
import { withRollback } from 'scratchfs/checkpoints';
import { diff, formatDiff } from 'scratchfs/diff';
import { attempts, removeProject, writeProject } from './project.js';

const directory = await writeProject();
const { fileSystem: fs, files } = await loadDirectory(directory, { ignore: '**/*.log' });
console.log(`loaded ${files} files`);

const { call } = createFileTools(new Sandbox(fs), { approve: async () => true });
const shell = new Bash({ fs: createBashFs(fs) });
const start = await fs.checkpoint('start');

for (const toolCalls of attempts) {
  const attempt = await withRollback(
    fs,
    async () => {
      for (const { name, input } of toolCalls) console.log((await call(name, input)).text.split('\n')[0]);
    },
    async () => (await shell.exec('sh /test.sh')).exitCode === 0 || 'the tests fail',
  );
  if (attempt.committed) break;
  const { changed = [], removed = [] } = attempt.undone ?? {};
  console.log(`undone, because ${attempt.reason}:`, ...[...changed, ...removed].map(({ path }) => path));
}

console.log(await formatDiff(fs, start));
const applied = await applyChanges(await diff(fs, start, undefined, { contents: true }), directory);
console.log(applied.success ? 'applied' : 'in conflict', [
  ...applied.applied,
  ...applied.conflicts.map(({ path }) => path),
]);
await removeProject(directory);
