/** Groups of files to mutate: the tests that must notice, and the minimal percentage of noticed mutants. */
export const groups = [
  {
    name: 'paths',
    mutate: ['packages/core/src/paths.ts'],
    tests: ['packages/core/src/paths.test.ts'],
    percent: 90,
  },
  {
    name: 'limits',
    mutate: [
      'packages/core/src/limits.ts',
      'packages/core/src/engine/view/limits.ts',
      'packages/core/src/engine/view/limit-error.ts',
    ],
    tests: [
      ...['limits', 'engine/view/limits', 'engine/memory/memory-transaction', 'engine/operations/names'].map(
        (file) => `packages/core/src/${file}.test.ts`,
      ),
      ...['depth', 'reach'].map((file) => `packages/scratchfs/src/${file}.test.ts`),
    ],
    percent: 90,
  },
  {
    name: 'policy',
    mutate: ['sandbox-root', 'namespace', 'policy', 'policy-guard', 'deny-list', 'derive', 'find'].map(
      (file) => `packages/sandbox/src/${file}.ts`,
    ),
    tests: [
      'namespace',
      'policy',
      'policy-guard',
      'deny',
      'derive',
      'find',
      'sandbox',
      'sandbox-rules',
      'write-only',
    ].map((file) => `packages/sandbox/src/${file}.test.ts`),
    percent: 90,
  },
  {
    name: 'walk',
    mutate: ['path-handle', 'confined-root', 'directory-handle', 'is-path-safe'].map(
      (file) => `packages/host/src/${file}.ts`,
    ),
    tests: [
      'path-handle',
      'confined-root',
      'directory-handle',
      'elsewhere',
      'host-file-system',
      'read-only-sandbox-fs',
    ].map((file) => `packages/host/src/${file}.test.ts`),
    percent: 90,
  },
];
