import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pnpm, requireNode, root, seconds } from './lib.mjs';

const modules = join(root, 'node_modules');
const marker = join(modules, '.scratchfs-installed.json');

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'pnpm-lock.yaml')))
    .digest('hex');
}

function isInstalled(...enough) {
  if (existsSync(marker)) {
    const { hash, filters } = JSON.parse(readFileSync(marker, 'utf8'));
    return hash === lockHash() && ['*', ...enough].some((filter) => filters.includes(filter));
  }
  // Without a marker, a person installed by hand; pnpm keeps the lock file that it used here.
  const current = join(modules, '.pnpm', 'lock.yaml');
  return existsSync(current) && readFileSync(current, 'utf8') === readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8');
}

/** Reports whether everything was installed here, with any lock file. */
function hadEverything() {
  if (existsSync(marker)) return JSON.parse(readFileSync(marker, 'utf8')).filters.includes('*');
  return existsSync(join(modules, '.bin', 'vitest'));
}

/**
 * Installs the lock file's versions, unless that is already done.
 * @param filter a workspace package whose dependencies are enough, or `*` for all
 * @param options `isLean` leaves out development dependencies of the package and of those that it depends on
 */
export async function install(filter = '*', { isLean = false } = {}) {
  requireNode();
  const kind = isLean ? `${filter} (lean)` : filter;
  if (isInstalled(filter, kind)) return;
  // Installing less would remove packages that are in use.
  if (filter !== '*' && hadEverything()) return install();
  const started = performance.now();
  // Standard output belongs to the program that is started afterwards.
  console.error(filter === '*' ? 'Installing…' : `Installing what ${filter} needs…`);
  // An installation takes a minute, so it shows what it does. `npm run -s` would pass its silence on.
  const args = ['install', '--frozen-lockfile', '--prefer-offline', '--reporter=append-only', '--loglevel=info'];
  if (isLean) args.push('--prod', '--filter-prod', `${filter}...`);
  else if (filter !== '*') args.push('--filter', `${filter}...`);
  const { code } = await pnpm(args, { env: { CI: 'true' }, stdout: 2 });
  if (code !== 0) {
    console.error(`The installation failed (exit code ${code}).`);
    process.exit(code);
  }
  const hash = lockHash();
  const known = existsSync(marker) ? JSON.parse(readFileSync(marker, 'utf8')) : { hash: '', filters: [] };
  const filters = [...(known.hash === hash ? known.filters : []), kind];
  mkdirSync(modules, { recursive: true });
  writeFileSync(marker, JSON.stringify({ hash, filters }));
  console.error(`Installed in ${seconds(started)}.\n`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await install(process.argv[2]);
