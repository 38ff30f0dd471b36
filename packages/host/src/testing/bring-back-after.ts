import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { FileSystem } from '@scratchfs/core';
import { Sandbox, type SandboxConfig } from '@scratchfs/sandbox';
import { type BroughtBack, bringBack } from '../os-sandbox/bring-back.js';
import { allLimits } from '../os-sandbox/limits.js';
import { StagedCopy } from '../os-sandbox/staged-copy.js';

/**
 * Brings back the changes that a script, and a concurrent process, made to a copy. The script is the test's own and
 * runs without a sandbox.
 */
export async function bringBackAfter(
  script: string,
  fileSystem: FileSystem,
  config: SandboxConfig = { root: { root: '/' } },
  meanwhile?: () => Promise<unknown>,
): Promise<BroughtBack> {
  const sandbox = new Sandbox(fileSystem, config);
  const limits = allLimits();
  await using stagedCopy = await StagedCopy.copy(sandbox, limits);
  execFileSync('/bin/sh', ['-ec', script], { cwd: join(stagedCopy.directory, 'work') });
  await meanwhile?.();
  return await bringBack(sandbox, stagedCopy, await stagedCopy.changes(limits), undefined);
}
