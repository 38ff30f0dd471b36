/**
 * The steps that `npm run check` and `npm test` run, in order.
 *
 * - `run`: a command; its exit code counts, it adds nothing to the totals.
 * - `vitest`: projects of test/vitest.config.ts; each test counts.
 * - `report`: a command that writes `{ passed, failed, skipped, missing, reasons }` to the file named by
 *   `SCRATCHFS_RESULTS`; `missing` counts the skips for want of a runtime or a server, which fail if `CI=true`.
 *
 * `check: true` marks what `npm run check` runs too; `needs` names steps that come along when a step is asked for by
 * name. A step that takes longer than `timeoutMs` (default 10 minutes) fails.
 *
 * Two steps run at a time, in this order: steps that use both cores are next to steps that mostly wait for servers. A
 * step with `isAlone: true` runs while no other does: it measures time, or installs with apt-get, which has a lock.
 */
export const steps = [
  ...[
    ['bubblewrap', 'bwrap', '--version', 'commands in an OS sandbox'],
    ['postgresql', 'psql', '--version', 'the storage on PostgreSQL'],
    ['tmux', 'tmux', '-V', 'the command line in a terminal'],
    ['zsh', 'zsh', '--version', 'completion of the command line in zsh'],
    ['fish', 'fish', '--version', 'completion of the command line in fish'],
    ['exfat-fuse', 'mount.exfat-fuse', '-V', 'a disk that ignores case'],
    ['exfatprogs', 'which', 'mkfs.exfat', 'a disk that ignores case'],
  ].map(([name, ...program]) => ({ name, report: ['node', '.ci/program.mjs', name, ...program], isAlone: true })),
  { name: 'redis-server', report: ['node', '.ci/redis-server.mjs'], isAlone: true },
  { name: 's3-server', report: ['node', '.ci/s3-server.mjs'], timeoutMs: 7 * 60_000 },
  { name: 'format and lint', check: true, run: ['biome', 'check', '.'] },
  { name: 'types', check: true, run: ['node', '.ci/types.mjs'] },
  { name: 'build', check: true, run: ['node', '.ci/build.mjs'] },
  { name: 'package exports and size', check: true, vitest: ['packaging'], needs: ['build'] },
  { name: 'structure', check: true, vitest: ['structure'] },
  { name: 'documentation examples', check: true, vitest: ['docs'] },
  { name: 'unit tests', check: true, vitest: ['unit'] },
  { name: 'redis', vitest: ['redis'], needs: ['redis-server'], timeoutMs: 25 * 60_000 },
  { name: 'long unit tests', vitest: ['long'], needs: ['bubblewrap'], timeoutMs: 20 * 60_000 },
  { name: 's3', vitest: ['s3'], needs: ['s3-server'], timeoutMs: 25 * 60_000 },
  { name: 'mcp', vitest: ['mcp'] },
  {
    name: 'attacks',
    vitest: ['attacks'],
    needs: ['redis-server', 'exfat-fuse', 'exfatprogs'],
    timeoutMs: 20 * 60_000,
  },
  { name: 'sql', vitest: ['sql'], needs: ['postgresql'], timeoutMs: 15 * 60_000 },
  { name: 'examples', vitest: ['examples'], needs: ['redis-server'], timeoutMs: 15 * 60_000 },
  { name: 'dynamodb', vitest: ['dynamodb'] },
  { name: 'faults', vitest: ['faults'], timeoutMs: 20 * 60_000 },
  { name: 'differential', vitest: ['differential'], timeoutMs: 20 * 60_000 },
  { name: 'azure', vitest: ['azure'] },
  { name: 'runtimes', report: ['node', 'test/runtimes/run.mjs'], needs: ['build'] },
  { name: 'cloudflare', vitest: ['cloudflare'] },
  { name: 'clients', vitest: ['clients'], timeoutMs: 20 * 60_000 },
  { name: 'browser', vitest: ['browser'] },
  {
    name: 'command line',
    vitest: ['cli'],
    needs: ['redis-server', 'postgresql', 'tmux', 'bubblewrap', 'zsh', 'fish'],
    isAlone: true,
  },
  { name: 'event loop', vitest: ['slices'], timeoutMs: 20 * 60_000, isAlone: true },
];
