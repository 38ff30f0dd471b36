/**
 * The steps that `npm run check` and `npm test` run, in order.
 *
 * - `run`: a command; its exit code counts, it adds nothing to the totals.
 * - `vitest`: projects of test/vitest.config.ts; each test counts.
 * - `report`: a command that writes `{ passed, failed, skipped, missing, reasons }` to the file named by
 *   `SCRATCHFS_RESULTS`; `missing` counts the skips for want of a runtime or a server, which fail if `CI=true`.
 *
 * `check: true` marks what `npm run check` runs too; `needs` names steps that come along when a step is asked for by
 * name. A step that takes longer than `timeoutMs` (default 40 minutes) fails: this ends what hangs, not what is slow.
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
  { name: 's3-server', report: ['node', '.ci/s3-server.mjs'] },
  { name: 'format and lint', check: true, run: ['biome', 'check', '.'] },
  { name: 'types', check: true, run: ['node', '.ci/types.mjs'] },
  { name: 'build', check: true, run: ['node', '.ci/build.mjs'] },
  { name: 'package exports and size', check: true, vitest: ['packaging'], needs: ['build'] },
  { name: 'structure', check: true, vitest: ['structure'] },
  { name: 'documentation examples', check: true, vitest: ['docs'] },
  { name: 'unit tests', check: true, vitest: ['unit'] },
  { name: 'redis', vitest: ['redis'], needs: ['redis-server'] },
  { name: 'long unit tests', vitest: ['long'], needs: ['bubblewrap'] },
  { name: 's3', vitest: ['s3'], needs: ['s3-server'] },
  { name: 'mcp', vitest: ['mcp'] },
  {
    name: 'attacks',
    vitest: ['attacks'],
    needs: ['redis-server', 'exfat-fuse', 'exfatprogs'],
  },
  { name: 'sql', vitest: ['sql'], needs: ['postgresql'] },
  { name: 'examples', vitest: ['examples'], needs: ['redis-server'] },
  { name: 'dynamodb', vitest: ['dynamodb'] },
  { name: 'faults', vitest: ['faults'] },
  { name: 'differential', vitest: ['differential'] },
  { name: 'azure', vitest: ['azure'] },
  { name: 'runtimes', report: ['node', 'test/runtimes/run.mjs'], needs: ['build'] },
  { name: 'cloudflare', vitest: ['cloudflare'] },
  { name: 'clients', vitest: ['clients'] },
  { name: 'browser', vitest: ['browser'] },
  {
    name: 'command line',
    vitest: ['cli'],
    needs: ['redis-server', 'postgresql', 'tmux', 'bubblewrap', 'zsh', 'fish'],
    isAlone: true,
  },
  { name: 'event loop', vitest: ['slices'], isAlone: true },
];
