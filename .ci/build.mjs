import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bin, root, run, seconds } from './lib.mjs';

const packages = readdirSync(join(root, 'packages')).filter((name) =>
  existsSync(join(root, 'packages', name, 'package.json')),
);

// Declarations look into the sources of other packages, so a package's stamp counts all of them.
function sourceHash() {
  const hash = createHash('sha256');
  const files = ['tsconfig.json', 'pnpm-lock.yaml'];
  for (const name of packages) {
    files.push(join('packages', name, 'package.json'));
    for (const file of readdirSync(join(root, 'packages', name, 'src'), { recursive: true })) {
      if (file.endsWith('.ts') && !file.endsWith('.test.ts')) files.push(join('packages', name, 'src', file));
    }
  }
  for (const file of files.sort())
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex');
}

/** Builds `packages/*\/dist`; what is up to date stays. Resolves to the exit code. */
export async function build() {
  const started = performance.now();
  const hash = sourceHash();
  const stamp = (name) => join(root, 'packages', name, 'dist', '.built-from');
  const stale = packages.filter((name) => !existsSync(stamp(name)) || readFileSync(stamp(name), 'utf8') !== hash);
  let failed = 0;
  const queue = [...stale];
  const worker = async () => {
    for (let name = queue.shift(); name; name = queue.shift()) {
      const cwd = join(root, 'packages', name);
      const { code, output } = await run(bin('tsup'), ['--silent'], { cwd, quiet: true });
      if (code === 0) writeFileSync(stamp(name), hash);
      else {
        failed++;
        console.error(`Building ${name} failed:\n${output}`);
      }
    }
  };
  await Promise.all([worker(), worker()]);
  console.log(`${stale.length - failed} built, ${packages.length - stale.length} up to date, ${seconds(started)}`);
  return failed === 0 ? 0 : 1;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) process.exit(await build());
