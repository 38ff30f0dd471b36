/** Imports that the sources of a package may have besides their own files. */
export const mayImport: Record<string, readonly string[]> = {
  core: ['msgpackr'],
  memory: ['@scratchfs/core'],
  host: ['@scratchfs/core', '@scratchfs/history', '@scratchfs/sandbox'],
  history: ['@scratchfs/core', '@noble/hashes', 'fflate'],
  testkit: ['@scratchfs/core'],
  'node-fs': ['@scratchfs/core', '@scratchfs/memory', 'just-bash'],
  redis: ['@scratchfs/core', 'ioredis'],
  s3: ['@scratchfs/core', '@aws-sdk/client-s3'],
  disk: ['@scratchfs/core'],
  browser: ['@scratchfs/core'],
  cloudflare: ['@scratchfs/core'],
  dynamodb: ['@scratchfs/core', '@aws-sdk/client-dynamodb'],
  azure: ['@scratchfs/core', '@azure/storage-blob'],
  // `?` is a driver named at run time, which the user has installed.
  sql: ['@scratchfs/core', 'better-sqlite3', 'libsql', 'pg', '?'],
  workspace: [
    '@scratchfs/core',
    '@scratchfs/disk',
    '@scratchfs/history',
    '@scratchfs/host',
    '@scratchfs/memory',
    '@scratchfs/sandbox',
    'scratchfs',
  ],
  mcp: [
    '@modelcontextprotocol/server',
    '@scratchfs/core',
    '@scratchfs/sandbox',
    '@scratchfs/tools',
    '@scratchfs/workspace',
  ],
  cli: [
    '@scratchfs/azure',
    '@scratchfs/core',
    '@scratchfs/disk',
    '@scratchfs/dynamodb',
    '@scratchfs/history',
    '@scratchfs/host',
    '@scratchfs/mcp',
    '@scratchfs/redis',
    '@scratchfs/s3',
    '@scratchfs/sandbox',
    '@scratchfs/sql',
    '@scratchfs/workspace',
    '@aws-sdk/client-dynamodb',
    '@aws-sdk/client-s3',
    '@azure/storage-blob',
    '@clack/prompts',
    'ioredis',
    'libsql',
    'pg',
    'scratchfs',
  ],
  sandbox: ['@scratchfs/core'],
  tools: ['@scratchfs/core', '@scratchfs/sandbox', 're2js'],
  // `?` is a module named at run time: the package of a storage that a URL asks for.
  scratchfs: [
    '@scratchfs/core',
    '@scratchfs/memory',
    '@scratchfs/azure',
    '@scratchfs/disk',
    '@scratchfs/dynamodb',
    '@scratchfs/redis',
    '@scratchfs/s3',
    '@scratchfs/sql',
    'modern-tar',
    '?',
  ],
};

/** Packages whose sources run everywhere: no Node module, no global of one runtime, no eval. */
export const runEverywhere = ['core', 'memory', 'history', 'sandbox', 'tools', 's3', 'cloudflare', 'dynamodb'];

/** Folders and files that may import Node's own modules. Other code of these packages runs everywhere. */
export const needsNode = [
  'packages/azure/src/container-client.ts',
  'packages/node-fs/src/node/',
  'packages/cli/src/',
  'packages/disk/src/',
  'packages/host/src/',
  'packages/mcp/src/',
  'packages/redis/src/',
  'packages/sql/src/',
  'packages/workspace/src/',
];

/**
 * Examples and READMEs for authors of adapters. All others import `scratchfs`, which is what their reader has
 * installed.
 */
export const mayNameCore = [
  'examples/custom-storage/',
  'examples/object-store/',
  'packages/core/README.md',
  'packages/memory/README.md',
  'packages/testkit/README.md',
];

/** Sources that may read the time or random numbers, by function. */
export const ambient: Record<string, readonly string[]> = {
  'Date.now': ['packages/core/src/engine/defaults.ts'],
  'Math.random': [],
  // They measure how long the event loop was blocked, and the age of a head.
  'performance.now': [
    'packages/core/src/engine/scheduling/time-slice.ts',
    'packages/core/src/object-tree/steady-clock.ts',
  ],
  'crypto.getRandomValues': ['packages/core/src/engine/defaults.ts'],
  'crypto.randomUUID': [],
};

/** Names at the top of the repository. Names that begin with a dot hold settings and are not listed. */
export const topLevel = [
  'AGENTS.md',
  'LICENSE',
  'README.md',
  'examples',
  'package.json',
  'packages',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'test',
  'tsconfig.json',
];

/**
 * Pages about the present code: every file and type that they name exists. DECISIONS tells of the past and is not among
 * them.
 */
export const currentPages = [
  '.github/ARCHITECTURE.md',
  '.github/OBJECT_TREE.md',
  '.github/SECURITY.md',
  'AGENTS.md',
  'README.md',
];

/** Phrases that comments, test titles and Markdown avoid, each with what to write instead. */
export const avoidedPhrases: readonly { readonly phrase: RegExp; readonly instead: string }[] = [
  { phrase: /\banswer(s|ed|ing)\b/i, instead: 'functions return, promises resolve, servers reply' },
  { phrase: /\bbeneath\b/i, instead: 'under, or lower' },
  { phrase: /\bfar (storage|backend)s?\b|\b(storage|backend)s? far away\b/i, instead: 'remote' },
  { phrase: /\bG([1-9]|1\d|2[0-4])\b/, instead: 'the property itself: a label needs another document' },
];

/** Files that contain the avoided phrases as examples. */
export const mayContainAvoidedPhrases = ['test/structure/language.test.ts'];
