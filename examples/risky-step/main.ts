import { createFileSystem, type FileSystem } from 'scratchfs';

/** Runs a step. If it or the check throws, everything is as before. */
async function attempt(fs: FileSystem, step: () => Promise<void>, check: () => Promise<void>): Promise<string> {
  const before = await fs.checkpoint();
  try {
    await step();
    await check();
    return 'kept';
  } catch (error) {
    await fs.rollback(before);
    return `taken back (${error instanceof Error ? error.message : error})`;
  } finally {
    await fs.drop(before);
  }
}

const fs = createFileSystem({ files: { '/config.json': '{ "port": 8080 }\n', '/data/users.csv': 'ada\ngrace\n' } });

/** A real check: the configuration must be readable and have a port. */
async function check(): Promise<void> {
  const { port } = JSON.parse(await fs.readText('/config.json')) as { port?: unknown };
  if (typeof port !== 'number') throw new Error('the configuration has no port');
}

const clumsy = await attempt(
  fs,
  async () => {
    await fs.rm('/data', { recursive: true });
    await fs.editFile('/config.json', '"port": 8080', '"host": "localhost"');
  },
  check,
);
console.log('clumsy step:', clumsy);
console.log(await fs.readText('/config.json'), await fs.readdir('/data'));

const careful = await attempt(fs, async () => void (await fs.editFile('/config.json', '8080', '9090')), check);
console.log('careful step:', careful);
console.log(await fs.readText('/config.json'), await fs.readdir('/data'));
