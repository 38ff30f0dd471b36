/**
 * The long campaigns of a release, as data. Without an argument `npm run campaign` prints this table; the tests check
 * that every file named here exists.
 *
 * - `name`: `<where>/<what>`. `npm run campaign -- <what>` runs that campaign everywhere, `-- <where>` everything
 *   there.
 * - `proves`: what a campaign without a problem shows.
 * - `minutes`: CPU minutes of the whole campaign, extrapolated from a hundredth on an AMD EPYC (2026-11-25); missing if
 *   it was not measured. The clock shows more if a campaign waits for a server.
 * - `run`: returns the command and its environment for a share of the whole and a first seed (undefined: the default).
 *   `rest` has the arguments after the name as they were given.
 */
const source = ['node', '--conditions=@scratchfs/source', '--import', 'tsx'];
const vitest = ['vitest', 'run', '--config', 'test/vitest.config.ts'];

/** A campaign of a script that takes its name, a share and a first seed. */
const scripted =
  (file, name) =>
  ({ share, seed }) => ({ command: [...source, file, name, String(share), ...(seed === undefined ? [] : [seed])] });

/** A campaign of a test file that reads its size and its first seed from environment variables. */
const tested =
  (project, file, whole, variables) =>
  ({ share, seed }) => ({
    command: [...vitest, '--project', project, file],
    env: {
      [variables.size]: String(Math.max(1, Math.round(whole * share))),
      ...(seed === undefined || variables.seed === undefined ? {} : { [variables.seed]: seed }),
      ...variables.env,
    },
  });

const FAULTS = 'Every change happens completely and once, or not at all, whichever call fails and however.';
const LINEARIZABILITY = 'Histories of 8 concurrent clients are linearizable, with faults and without.';
const LIMITS = 'Racing writers never exceed a limit, and the counters equal a recount.';
const SNAPSHOTS = 'A snapshot or a reader never sees half of a write, beside a writer that also restores.';
const ABORTS = 'An aborted change settles within a second, happens completely or not at all, and leaves no listener.';
const LOST = 'A change is reported as what it was when its answer is cut at any byte.';
const FORMS = 'Random operations give the same results as in memory.';

const MEMORY = 'test/faults/run.ts';
const TREE = 'test/s3/map/run.ts';
const REDIS = 'test/redis/run.ts';
const S3 = 'test/s3/run.ts';

export const campaigns = [
  { name: 'memory/faults', proves: FAULTS, minutes: 5, run: scripted(MEMORY, 'faults') },
  { name: 'memory/linearizability', proves: LINEARIZABILITY, minutes: 10, run: scripted(MEMORY, 'linearizability') },
  { name: 'memory/limits', proves: LIMITS, minutes: 2, run: scripted(MEMORY, 'limits') },
  { name: 'memory/snapshots', proves: SNAPSHOTS, minutes: 3, run: scripted(MEMORY, 'snapshots') },
  { name: 'memory/aborts', proves: ABORTS, minutes: 6, run: scripted(MEMORY, 'aborts') },
  {
    name: 'memory/damaged-snapshots',
    proves: 'None of 100,000 damaged snapshots changes anything, crashes, or takes unbounded time or memory.',
    minutes: 2,
    run: tested('unit', 'packages/core/src/snapshot/mutants.test.ts', 33_334, { size: 'SNAPSHOT_MUTANTS' }),
  },
  {
    name: 'memory/paths',
    proves: 'A million random paths are normalized by the rules, and the fast path agrees with the slow one.',
    minutes: 4,
    run: tested('unit', 'packages/testkit/src/paths.test.ts', 1_000_000, { size: 'PATHS', seed: 'PATHS_SEED' }),
  },
  {
    name: 'memory/fuzz',
    proves: 'A million random operations behave as on node:fs; 200,000 are the same in every form of the interface.',
    minutes: 14,
    run: ({ share, seed }) => ({
      command: [
        ...source,
        'test/differential/run.ts',
        String(Math.max(1, Math.round(1_000_000 * share))),
        String(seed ?? Math.floor(Date.now() / 1000)),
        String(Math.max(1, Math.round(200_000 * share))),
      ],
    }),
  },
  { name: 'tree/forms', proves: FORMS, minutes: 3, run: scripted(TREE, 'forms') },
  { name: 'tree/linearizability', proves: LINEARIZABILITY, minutes: 42, run: scripted(TREE, 'linearizability') },
  { name: 'tree/limits', proves: LIMITS, minutes: 7, run: scripted(TREE, 'limits') },
  { name: 'tree/snapshots', proves: SNAPSHOTS, minutes: 2, run: scripted(TREE, 'snapshots') },
  { name: 'tree/aborts', proves: ABORTS, minutes: 11, run: scripted(TREE, 'aborts') },
  {
    name: 'tree/model',
    proves: 'Clients that write, keep, roll back and fork beside garbage collectors agree with a model.',
    minutes: 12,
    run: scripted(TREE, 'model'),
  },
  {
    name: 'tree/large-files',
    proves: 'A file of 1 GB is streamed in and out within the memory of the cache and little more.',
    minutes: 2,
    run: tested('long', 'packages/s3/src/streams.long.test.ts', 1_024, { size: 'LARGE_FILE_MB' }),
  },
  {
    name: 'azure/suites',
    proves:
      'AzureBlobStorage passes the whole suites on azurite, and no reply that is lost makes it report a wrong outcome.',
    run: tested('azure', 'test/azure/azure.test.ts', 1, { size: 'SCRATCHFS_TEST_EVERYTHING' }),
  },
  {
    name: 'azure/writers',
    proves: '16 processes increment one counter 100 times each, and none is lost.',
    run: tested('azure', 'test/azure/azure.test.ts', 16, { size: 'AZURE_WRITERS' }),
  },
  {
    name: 'azure/kills',
    proves: 'No acknowledged increment is lost when two writing processes are killed (kill -9) 100 times.',
    run: tested('azure', 'test/azure/azure.test.ts', 100, { size: 'AZURE_KILLS' }),
  },
  {
    name: 'cloudflare/suites',
    proves: 'R2Storage and DurableObjectStorage pass the whole suites inside workerd.',
    run: tested('cloudflare', 'test/cloudflare/cloudflare.test.ts', 1, { size: 'CLOUDFLARE_SUITES' }),
  },
  {
    name: 'cloudflare/writers',
    proves: '16 clients increment one counter 100 times each, in a bucket and in a Durable Object, and none is lost.',
    run: tested('cloudflare', 'test/cloudflare/cloudflare.test.ts', 16, { size: 'CLOUDFLARE_WRITERS' }),
  },
  {
    name: 'cloudflare/kills',
    proves: 'No acknowledged increment is lost when the runtime is killed (kill -9) 50 times.',
    run: tested('cloudflare', 'test/cloudflare/kills.test.ts', 50, { size: 'CLOUDFLARE_KILLS' }),
  },
  {
    name: 'workspace/undo',
    proves:
      '200 random operations on a directory, two of them commands, 200 times undo and 200 times redo are exact, on 1,000 seeds.',
    minutes: 55,
    run: tested('long', 'packages/workspace/src/random-undo.long.test.ts', 1000, {
      size: 'UNDO_SEEDS',
      seed: 'UNDO_SEED',
    }),
  },
  {
    name: 'workspace/person',
    proves:
      'A person and an agent who work on one directory by random actions lose no line to each other, and an accept writes what the diff said, on 1,000 seeds.',
    run: tested('long', 'packages/workspace/src/random-person.long.test.ts', 1000, {
      size: 'PERSON_SEEDS',
      seed: 'PERSON_SEED',
      env: { PERSON_STEPS: '60' },
    }),
  },
  {
    name: 'disk/layers',
    proves: 'Every layer over a DiskStorage passes the whole suite of filesystems.',
    run: tested('long', 'packages/disk/src/layers.long.test.ts', 1, { size: 'DISK_LAYERS' }),
  },
  {
    name: 'workspace/two-processes',
    proves:
      'Of two processes on one attempt and a person beside them nothing is lost when one process gets kill -9, in 100 rounds.',
    run: tested('long', 'packages/workspace/src/two-processes.long.test.ts', 100, {
      size: 'TWO_PROCESSES',
      seed: 'TWO_PROCESSES_SEED',
    }),
  },
  {
    name: 'disk/writers',
    proves: '16 processes increment one counter 100 times each, and none is lost.',
    run: tested('long', 'packages/disk/src/processes.long.test.ts', 16, { size: 'DISK_WRITERS' }),
  },
  {
    name: 'disk/kills',
    proves: 'No acknowledged change is lost when two writing processes are killed (kill -9) 300 times.',
    run: tested('long', 'packages/disk/src/processes.long.test.ts', 300, { size: 'DISK_KILLS' }),
  },
  {
    name: 'sql/suites',
    proves:
      'SqliteStorage and PostgresStorage pass the whole suites, PostgreSQL those of its object store on a real server.',
    run: tested('sql', 'test/sql', 1, { size: 'SCRATCHFS_TEST_EVERYTHING' }),
  },
  {
    name: 'sql/writers',
    proves: '16 processes increment one counter 100 times each, in SQLite and in PostgreSQL, and none is lost.',
    run: tested('sql', 'test/sql', 16, { size: 'SQL_WRITERS' }),
  },
  {
    name: 'sql/kills',
    proves: 'No acknowledged change is lost when two writing processes are killed (kill -9) 100 times.',
    run: tested('sql', 'test/sql', 100, { size: 'SQL_KILLS' }),
  },
  {
    name: 'dynamodb/suites',
    proves: 'DynamoDbStorage passes the whole suites on dynalite.',
    run: tested('dynamodb', 'test/dynamodb', 1, { size: 'SCRATCHFS_TEST_EVERYTHING' }),
  },
  {
    name: 'dynamodb/writers',
    proves: '16 processes increment one counter 100 times each, and none is lost.',
    run: tested('dynamodb', 'test/dynamodb', 16, { size: 'DYNAMODB_WRITERS' }),
  },
  {
    name: 'dynamodb/kills',
    proves: 'No acknowledged change is lost when two writing processes are killed (kill -9) 100 times.',
    run: tested('dynamodb', 'test/dynamodb', 100, { size: 'DYNAMODB_KILLS' }),
  },
  {
    name: 'browser/suites',
    proves: 'The suites, with the long sections that `npm test` leaves out, pass on an IndexedDB.',
    run: tested('long', 'packages/browser/src/indexed-db-storage.long.test.ts', 20, { size: 'INDEXEDDB_HISTORIES' }),
  },
  {
    name: 'browser/writers',
    proves: '16 tabs and workers increment one counter 100 times each, and none is lost.',
    run: tested('browser', 'test/browser/indexed-db.test.ts', 16, { size: 'BROWSER_WRITERS' }),
  },
  {
    name: 'browser/kills',
    proves: 'No acknowledged change is lost when 100 writing tabs are killed.',
    run: tested('browser', 'test/browser/indexed-db.test.ts', 100, { size: 'BROWSER_KILLS' }),
  },
  { name: 'redis/forms', proves: FORMS, minutes: 4, run: scripted(REDIS, 'forms') },
  { name: 'redis/faults', proves: FAULTS, minutes: 30, run: scripted(REDIS, 'faults') },
  { name: 'redis/linearizability', proves: LINEARIZABILITY, minutes: 20, run: scripted(REDIS, 'linearizability') },
  {
    name: 'redis/killed-servers',
    proves: 'No acknowledged change is lost when the server is killed (kill -9) 1,000 times with its log on.',
    minutes: 8,
    run: scripted(REDIS, 'killed-servers'),
  },
  { name: 'redis/lost-answers', proves: LOST, minutes: 22, run: scripted(REDIS, 'lost-answers') },
  { name: 'redis/limits', proves: LIMITS, minutes: 8, run: scripted(REDIS, 'limits') },
  { name: 'redis/snapshots', proves: SNAPSHOTS, minutes: 20, run: scripted(REDIS, 'snapshots') },
  { name: 'redis/aborts', proves: ABORTS, minutes: 24, run: scripted(REDIS, 'aborts') },
  {
    name: 'redis/busy-server',
    proves: 'No command keeps the server busy for 10 ms. Needs an otherwise idle machine.',
    minutes: 1,
    run: scripted(REDIS, 'busy-server'),
  },
  { name: 's3/forms', proves: FORMS, minutes: 20, run: scripted(S3, 'forms') },
  { name: 's3/faults', proves: FAULTS, run: scripted(S3, 'faults') },
  { name: 's3/linearizability', proves: LINEARIZABILITY, run: scripted(S3, 'linearizability') },
  { name: 's3/lost-answers', proves: LOST, run: scripted(S3, 'lost-answers') },
  { name: 's3/limits', proves: LIMITS, run: scripted(S3, 'limits') },
  { name: 's3/snapshots', proves: SNAPSHOTS, run: scripted(S3, 'snapshots') },
  { name: 's3/aborts', proves: ABORTS, run: scripted(S3, 'aborts') },
  {
    name: 's3/processes',
    proves: '16 processes write to one filesystem: all succeed, and the slowest takes at most 3 times the median.',
    minutes: 17,
    run: scripted(S3, 'processes'),
  },
  { name: 's3/writers', proves: '20 writers of one file all succeed.', minutes: 9, run: scripted(S3, 'writers') },
  {
    name: 's3/throughput',
    proves:
      'Writers of one process share commits: over 100 operations a second when a PUT takes 30 ms. Needs an otherwise idle machine.',
    minutes: 1,
    run: scripted(S3, 'throughput'),
  },
  {
    name: 'mcp/requests',
    proves: 'The MCP server responds to 10,000 calls at the same time in at most 600 MB, and goes on.',
    minutes: 1,
    run: tested('mcp', 'test/mcp/many-clients.test.ts', 10_000, { size: 'MCP_REQUESTS' }),
  },
  {
    name: 'mcp/races',
    proves: 'The MCP server reads and changes nothing outside while another process swaps a directory for a link.',
    minutes: 5,
    run: tested('mcp', 'test/mcp/races.test.ts', 1000, { size: 'MCP_RACE_ROUNDS' }),
  },
  {
    name: 'host/races',
    proves: 'Nothing outside a directory of the host is read or changed while another process swaps names in it.',
    minutes: 180,
    run: tested('attacks', 'test/attacks/races', 100_000, { size: 'RACE_ITERATIONS', seed: 'RACE_SEED' }),
  },
  {
    name: 'host/kills',
    proves: 'A directory of the host has the old or the new state after kill -9 at any step of 5,000 changes.',
    minutes: 20,
    run: tested('attacks', 'test/attacks/kills', 5_000, { size: 'HOST_KILLS', seed: 'HOST_SEED' }),
  },
  {
    name: 'host/apply-kills',
    proves:
      'A directory of the host has all changes of an applyChanges or none, after kill -9 at any step of 5,000 calls and of their recovery.',
    minutes: 20,
    run: tested('attacks', 'test/attacks/apply-kills', 5_000, { size: 'APPLY_KILLS', seed: 'APPLY_SEED' }),
  },
  {
    name: 'host/merge',
    proves: 'A repository is unchanged or completely merged after kill -9 at any moment of 1,000 merges.',
    minutes: 8,
    run: tested('long', 'packages/host/src/merge/kills', 1_000, { size: 'MERGE_KILLS', seed: 'SEED' }),
  },
  {
    name: 'workspace/accept-kills',
    proves:
      'An accept into a dirty repository, and its undo, happen completely or not at all, in the log too, after kill -9 at random moments of 300.',
    run: tested('attacks', 'test/attacks/accept-kills', 300, { size: 'ACCEPT_KILLS', seed: 'ACCEPT_SEED' }),
  },
  {
    name: 'workspace/live-kills',
    proves:
      'Each operation of a live attempt is on the disk and in the log, or in neither, with two processes of which one gets kill -9, at random moments of 300.',
    minutes: 2,
    run: tested('attacks', 'test/attacks/live-kills', 300, { size: 'LIVE_KILLS', seed: 'LIVE_SEED' }),
  },
  {
    name: 'workspace/two-writers',
    proves:
      'Of 10,000 edits by a person beside 10,000 by an attempt no line is lost, and conflicts are where `git merge-file` has them.',
    run: tested('long', 'packages/workspace/src/accept/two-writers', 10_000, { size: 'TWO_WRITERS', seed: 'SEED' }),
  },
  {
    name: 'cli/kills',
    proves:
      'After 300 times kill -9 of the command line at random moments, the log has whole operations, the disk is whole, and every command works.',
    run: tested('cli', 'test/cli/kills', 300, { size: 'CLI_KILLS', seed: 'CLI_KILLS_SEED' }),
  },
  {
    name: 'sandbox/attacks',
    proves: 'No way to use any method reaches what a policy forbids, over every storage, with every policy and layer.',
    run: () => ({
      command: [
        ...[...vitest, '--project', 'long', '--project', 'attacks'],
        ...['packages/sandbox/src/attacks', 'test/attacks/host', 'test/attacks/redis'],
      ],
      env: { SANDBOX_ATTACKS: 'all' },
    }),
  },
  {
    name: 'sandbox/chains',
    proves: 'A child sandbox never has more rights than its parent, in 2 million probes of random chains.',
    minutes: 11,
    run: tested('long', 'packages/sandbox/src/chains', 2_000_000, {
      size: 'SANDBOX_PROBES',
      seed: 'SANDBOX_FIRST_SEED',
    }),
  },
  {
    name: 'history/long',
    proves: 'git accepts every object of a random history of 10,000 commits, and every flipped bit is noticed.',
    minutes: 10,
    run: ({ share, seed }) => ({
      command: [
        ...source,
        'test/git/long-history.ts',
        String(Math.max(1, Math.round(10_000 * share))),
        ...(seed === undefined ? [] : [seed]),
      ],
    }),
  },
  {
    name: 'tests/coverage',
    proves: 'The tests run the lines and branches that `test/coverage/groups.ts` asks for.',
    run: () => ({
      command: [
        ...['vitest', 'run', '--config', 'test/coverage/vitest.config.ts', '--project', 'unit', '--project', 'long'],
        ...['core', 'memory', 'testkit', 'scratchfs', 'sandbox', 'tools', 's3'].map((name) => `packages/${name}`),
        ...[
          'path-handle',
          'confined-root',
          'directory-handle',
          'host-file-system',
          'read-only-sandbox',
          'elsewhere',
        ].map((part) => `packages/host/src/${part}`),
      ],
    }),
  },
  {
    name: 'tests/mutation',
    proves:
      'The tests notice deliberate changes of the code. Arguments: groups of `test/mutation/groups.mjs`, or group/file.',
    run: ({ rest }) => ({ command: ['node', 'test/mutation/run.mjs', ...rest] }),
  },
];
