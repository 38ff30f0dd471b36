import type { FileSystem } from '@scratchfs/core';
import { aliasingCases } from './aliasing.js';
import { badInputCases } from './bad-input.js';
import { capabilityCases } from './capabilities.js';
import { checkpointCases } from './checkpoints.js';
import { type Add, type Case, type Create, runCase } from './context.js';
import { copyCases } from './copies.js';
import { directoryCases } from './directories.js';
import { entryCases } from './entries.js';
import { fileCases } from './files.js';
import { handleCases } from './handles.js';
import { limitCases } from './limits.js';
import { linkCases } from './links.js';
import { metadataCases } from './metadata.js';
import { modelCases } from './model-cases.js';
import { pathCases } from './paths.js';
import { renameCases } from './renames.js';
import type { TestRunner } from './runner.js';
import { signalCases } from './signals.js';
import { streamCases } from './streams.js';
import { transactionCases } from './transactions.js';
import { versionCases } from './versions.js';
import { watchCases } from './watching.js';

export interface FileSystemSuiteOptions {
  /** `describe` and `it` of any test runner. */
  readonly test: TestRunner;
  /** Creates an empty filesystem that takes every stored time from the clock and enforces the limits. */
  readonly create: Create;
  /**
   * Opens a filesystem from `create` again, as another client. Its `watch` must report the changes of the first one.
   */
  readonly openAgain?: ((fs: FileSystem) => FileSystem | Promise<FileSystem>) | undefined;
  /** Name of the group of tests. Default `FileSystem`. */
  readonly name?: string | undefined;
  /** Sections to run. Default all. */
  readonly sections?: readonly FileSystemSection[] | undefined;
}

const SECTIONS = {
  paths: pathCases,
  entries: entryCases,
  directories: directoryCases,
  files: fileCases,
  links: linkCases,
  rename: renameCases,
  copy: copyCases,
  handles: handleCases,
  metadata: metadataCases,
  versions: versionCases,
  limits: limitCases,
  checkpoints: checkpointCases,
  transactions: transactionCases,
  watch: watchCases,
  streams: streamCases,
  signals: signalCases,
  aliasing: aliasingCases,
  'bad input': badInputCases,
  capabilities: capabilityCases,
  model: modelCases,
} as const satisfies Record<string, (add: Add) => void>;

export type FileSystemSection = keyof typeof SECTIONS;

/**
 * Tests that every filesystem must pass, method by method, with its promise methods and, if there are any, its `…Sync`
 * methods. After each case, the statistics must equal a recount; a refused call must change nothing.
 */
export function fileSystemSuite(options: FileSystemSuiteOptions): void {
  const { test, create, openAgain } = options;
  test.describe(options.name ?? 'FileSystem', () => {
    for (const section of options.sections ?? (Object.keys(SECTIONS) as FileSystemSection[])) {
      test.describe(section, () => {
        for (const testCase of casesOf(SECTIONS[section])) test.it(testCase.name, () => runCase(testCase, create));
      });
    }
    if (openAgain === undefined) return;
    test.describe('watch, by another client', () => {
      const cases = casesOf((add) => watchCases(add, ({ fs }) => openAgain(fs)));
      for (const testCase of cases) test.it(testCase.name, () => runCase(testCase, create));
    });
  });
}

function casesOf(section: (add: Add) => void): Case[] {
  const cases: Case[] = [];
  section((name, run, options) => cases.push({ name, run, ...options }));
  return cases;
}
