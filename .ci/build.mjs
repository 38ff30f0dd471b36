import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bin, cache, root, run, seconds } from './lib.mjs';

const packages = readdirSync(join(root, 'packages')).filter((name) =>
  existsSync(join(root, 'packages', name, 'package.json')),
);

const manifestOf = (name) => JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
const folderOf = new Map(packages.map((name) => [manifestOf(name).name, name]));

// Declarations look into the sources of the packages beneath, so their hash is part of a package's own.
function sourceHash(name) {
  const hash = createHash('sha256');
  const files = ['tsconfig.json', 'pnpm-lock.yaml', join('packages', name, 'package.json')];
  for (const file of readdirSync(join(root, 'packages', name, 'src'), { recursive: true })) {
    if (file.endsWith('.ts') && !file.endsWith('.test.ts')) files.push(join('packages', name, 'src', file));
  }
  for (const file of files.sort()) {
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  for (const dependency of Object.keys(manifestOf(name).dependencies ?? {})) {
    if (folderOf.has(dependency)) hash.update(sourceHash(folderOf.get(dependency)));
  }
  return hash.digest('hex');
}

/** Builds `packages/*\/dist`; what is up to date stays. Resolves to the exit code. */
export async function build() {
  const started = performance.now();
  const stamp = (name) => join(cache, 'built', name);
  const isFresh = (name) =>
    existsSync(join(root, 'packages', name, 'dist')) &&
    existsSync(stamp(name)) &&
    readFileSync(stamp(name), 'utf8') === sourceHash(name);
  const stale = packages.filter((name) => !isFresh(name));
  mkdirSync(join(cache, 'built'), { recursive: true });
  let failed = 0;
  const queue = [...stale];
  const worker = async () => {
    for (let name = queue.shift(); name; name = queue.shift()) {
      const cwd = join(root, 'packages', name);
      const hash = sourceHash(name);
      const { code, output } = await run(bin('tsup'), ['--silent'], { cwd, quiet: true });
      if (code === 0) writeFileSync(stamp(name), hash);
      else {
        failed++;
        console.error(`Building ${name} failed:\n${output}`);
      }
    }
  };
  await Promise.all([worker(), worker()]);
  console.log(
    `Packages: ${stale.length - failed} built, ${packages.length - stale.length} up to date, ${seconds(started)}`,
  );
  return failed === 0 ? 0 : 1;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) process.exit(await build());
