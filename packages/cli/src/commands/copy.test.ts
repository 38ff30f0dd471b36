import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Call } from '../table/command-spec.js';
import { run } from './copy.js';

describe('copy that is interrupted', () => {
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'scratchfs-copy-'));
    mkdirSync(join(directory, 'from'));
    for (let i = 0; i < 300; i++) writeFileSync(join(directory, 'from', `f${i}`), '');
    mkdirSync(join(directory, 'full'));
    writeFileSync(join(directory, 'full', 'precious'), '');
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  /** Runs a copy that is aborted when it reports so many files. */
  function interrupted(to: string, files: number): Promise<unknown> {
    const controller = new AbortController();
    const report = (detail: string): void => {
      if (Number.parseInt(detail, 10) >= files) controller.abort();
    };
    const output = { progress: (_: string, work: (report: (detail: string) => void) => unknown) => work(report) };
    if (files < 0) controller.abort();
    return run({ args: ['from', to], directory, output, signal: controller.signal } as unknown as Call);
  }

  it('says that nothing was copied before its first step, or into a snapshot', async () => {
    for (const [to, files] of [
      ['to', -1],
      ['full', -1],
      ['to.snapshot', 1],
    ] as const)
      await expect(interrupted(to, files)).rejects.toMatchObject({
        exitCode: 130,
        message: 'Interrupted. Nothing was copied.',
        hint: 'Repeat the command.',
      });
    expect(readdirSync(join(directory, 'full'))).toEqual(['precious']);
    expect(readdirSync(directory)).not.toContain('to.snapshot');
  });

  it('says that a part is left, which the same command removes', async () => {
    for (const files of [0, 256])
      await expect(interrupted('to', files)).rejects.toMatchObject({
        exitCode: 130,
        message: 'Interrupted. What is at to is not whole.',
        hint: 'Repeat the command: it begins again and removes that.',
      });
    await expect(interrupted('to', 1_000)).resolves.toMatchObject({ json: { files: 300 } });
    await expect(interrupted('full', 1_000)).rejects.toMatchObject({
      message: 'TO is not empty. Nothing was changed.',
    });
  });
});
