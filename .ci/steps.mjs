/**
 * What `npm run check` and `npm test` run, in order.
 *
 * - `run`: a command; its exit code counts, it adds nothing to the totals.
 * - `vitest`: projects of test/vitest.config.ts; each test counts.
 * - `report`: a command that writes `{ passed, failed, skipped, missing, reasons }` to the file named by
 *   `SCRATCHFS_RESULTS`; `missing` counts the skips for want of a runtime or a server, which fail where `CI=true`.
 *
 * `check: true` marks what `npm run check` runs too; `needs` names steps that come along when a step is asked for by
 * name. A step that takes longer than `timeoutMs` (default 10 minutes) fails: it hangs, as a slow machine is no failure.
 */
export const steps = [
  { name: 'format and lint', check: true, run: ['biome', 'check', '.'] },
  { name: 'types', check: true, run: ['node', '.ci/types.mjs'] },
  { name: 'build', check: true, run: ['node', '.ci/build.mjs'] },
  { name: 'package exports and size', check: true, vitest: ['packaging'], needs: ['build'] },
  { name: 'structure', check: true, vitest: ['structure'] },
  { name: 'documentation examples', check: true, vitest: ['docs'] },
  { name: 'unit tests', check: true, vitest: ['unit'] },
  {
    name: 'bubblewrap',
    report: ['node', '.ci/program.mjs', 'bubblewrap', 'bwrap', '--version', 'commands in an OS sandbox'],
  },
  { name: 'long unit tests', vitest: ['long'], needs: ['bubblewrap'], timeoutMs: 20 * 60_000 },
  { name: 'differential', vitest: ['differential'], timeoutMs: 20 * 60_000 },
  { name: 'clients', vitest: ['clients'], timeoutMs: 20 * 60_000 },
  { name: 'cloudflare', vitest: ['cloudflare'] },
  { name: 'browser', vitest: ['browser'] },
  { name: 'mcp', vitest: ['mcp'] },
  { name: 'redis-server', report: ['node', '.ci/redis-server.mjs'] },
  { name: 'redis', vitest: ['redis'], needs: ['redis-server'], timeoutMs: 25 * 60_000 },
  {
    name: 'postgresql',
    report: ['node', '.ci/program.mjs', 'postgresql', 'psql', '--version', 'the storage on PostgreSQL'],
  },
  { name: 'sql', vitest: ['sql'], needs: ['postgresql'], timeoutMs: 15 * 60_000 },
  { name: 'azure', vitest: ['azure'] },
  { name: 'dynamodb', vitest: ['dynamodb'] },
  {
    name: 'tmux',
    report: ['node', '.ci/program.mjs', 'tmux', 'tmux', '-V', 'the command line in a terminal'],
  },
  ...['zsh', 'fish'].map((shell) => ({
    name: shell,
    report: ['node', '.ci/program.mjs', shell, shell, '--version', `completion of the command line in ${shell}`],
  })),
  {
    name: 'command line',
    vitest: ['cli'],
    needs: ['redis-server', 'postgresql', 'tmux', 'bubblewrap', 'zsh', 'fish'],
  },
  { name: 's3-server', report: ['node', '.ci/s3-server.mjs'], timeoutMs: 7 * 60_000 },
  { name: 's3', vitest: ['s3'], needs: ['s3-server'], timeoutMs: 25 * 60_000 },
  { name: 'attacks', vitest: ['attacks'], needs: ['redis-server'], timeoutMs: 20 * 60_000 },
  { name: 'examples', vitest: ['examples'], needs: ['redis-server'] },
  { name: 'faults', vitest: ['faults'], timeoutMs: 20 * 60_000 },
  { name: 'runtimes', report: ['node', 'test/runtimes/run.mjs'], needs: ['build'] },
];
