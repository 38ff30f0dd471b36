import { createFileSystem, isFsError } from 'scratchfs';
import { glob, grep } from 'scratchfs/search';

// One agent run gets its own filesystem. Nothing in it reaches the disk, and it cannot exceed its quota.
const fs = createFileSystem({
  files: {
    '/task.md': 'Find out which requests were slow.\n',
    '/logs/monday.log': 'GET / 12 ms\nGET /search 2105 ms slow\n',
    '/logs/tuesday.log': 'GET / 14 ms\nPOST /order 3070 ms slow\n',
  },
  limits: { maxTotalSize: 100_000, maxNodeCount: 1_000 },
});

// The agent looks around …
for await (const path of glob(fs, 'logs/*.log')) console.log('found', path);
const slow: string[] = [];
for await (const { path, line, text } of grep(fs, 'slow', { paths: '/logs' })) slow.push(`${path}:${line} ${text}`);

// … and writes down what it found.
await fs.mkdir('/out');
await fs.writeLines('/out/report.md', ['# Slow requests', ...slow]);
await fs.editFile('/out/report.md', '# Slow requests', `# ${slow.length} slow requests`);
console.log(await fs.readText('/out/report.md'));

try {
  await fs.writeFile('/out/everything.bin', new Uint8Array(1_000_000));
} catch (error) {
  if (!isFsError(error, 'ENOSPC')) throw error;
  console.log(`refused: ${error.limit} is ${error.allowed}, this would make ${error.requested}`);
}

// The results leave as a value: pass it on, store it, or discard it.
const { totalSize, fileCount } = await fs.stats();
console.log(`${fileCount} files, ${totalSize} bytes:`, Object.keys(fs.toJSON()).join(' '));
