/** Files whose every branch must be covered: a mistake in them would be silent, or lose data. */
export const everyBranch: Readonly<Record<string, readonly string[]>> = {
  paths: ['packages/core/src/paths.ts'],
  limits: [
    'packages/core/src/limits.ts',
    'packages/core/src/engine/view/limits.ts',
    'packages/core/src/engine/view/limit-error.ts',
  ],
  'the commit protocol: requests and their outcomes, what is relied on, batches that are applied': [
    'packages/core/src/engine/remote/{backend-client,remote-executor,remote-checkpoints,limit-error-for,coarse-preconditions}.ts',
    'packages/core/src/engine/remote/{node-loader,node-cache,optimistic-transaction,remote-cursors,remote-transaction}.ts',
    'packages/core/src/engine/scheduling/deadline.ts',
    'packages/core/src/engine/memory/memory-executor.ts',
    'packages/core/src/engine/tree-backend/{tree-backend,tree-writer,tree-reader,tree-checkpoints}.ts',
    'packages/core/src/engine/memory/transaction-{record,view}.ts',
    'packages/memory/src/*.ts',
  ],
  'who may touch what': [
    'packages/core/src/layers/restrict/guard-chain.ts',
    'packages/core/src/layers/path-walk.ts',
    'packages/sandbox/src/{sandbox-root,config,deny-list,deny-patterns,derive,errors,find,namespace,plain-data,policy,policy-guard,read-result}.ts',
  ],
  'the walk along paths of the host': [
    'packages/host/src/{path-handle,confined-root,directory-handle,is-path-safe}.ts',
  ],
  // All but the walk that creates a snapshot.
  'the snapshot codec': ['packages/core/src/snapshot/!(*.test|*.d|snapshot-cursor).ts'],
};

/** Percentage of the lines to be covered in each of these places. */
export const LINES_PERCENT = 95;
export const whole = ['packages/core/src/**/*.ts', 'packages/memory/src/**/*.ts'];

/** Files that are measured. */
export const measured = [
  'packages/core/src/**/*.ts',
  'packages/memory/src/**/*.ts',
  'packages/sandbox/src/**/*.ts',
  'packages/tools/src/**/*.ts',
  'packages/host/src/{path-handle,confined-root,directory-handle,is-path-safe}.ts',
];

/** Files that exist only for tests. */
export const forTests = ['**/*.test.ts', '**/fixtures/**', '**/testing/**'];
