import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { widthOf } from './columns.js';
import { Output, type OutputOptions } from './output.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Runs work of some milliseconds with progress, and returns what was written on standard error and output. */
async function written(ms: number, options: Partial<OutputOptions>, isTTY = true, columns = 80) {
  let [stdout, stderr] = ['', ''];
  const stream = (isError: boolean) => ({
    isTTY,
    columns,
    write: (data: string | Uint8Array) => {
      if (isError) stderr += data;
      else stdout += data;
      return true;
    },
  });
  const environment = { NO_COLOR: '1', TERM: 'xterm' };
  const given = { stdout: stream(false), stderr: stream(true), stdin: { isTTY }, environment };
  const done = new Output({ ...given, ...options }).progress('Copying', async (report) => {
    report('1 file');
    await new Promise((resolve) => setTimeout(resolve, ms / 2));
    report('日本語'.repeat(20));
    await new Promise((resolve) => setTimeout(resolve, ms / 2));
  });
  await vi.advanceTimersByTimeAsync(ms);
  await done;
  return { stdout, stderr };
}

describe('progress', () => {
  it('is shown on standard error after one second, again when it changes, and is erased', async () => {
    expect(await written(990, {})).toEqual({ stdout: '', stderr: '' });
    const { stdout, stderr } = await written(2_300, {});
    expect(stdout).toBe('');
    expect(stderr.startsWith('\r\u001b[KCopying… 1 file\r')).toBe(true);
    expect(stderr.endsWith('\r\u001b[K')).toBe(true);
  });

  it('fits in one line of any terminal, and is whole on one that does not know its size', async () => {
    expect((await written(1_100, {}, true, 0)).stderr).toContain('日本語'.repeat(10));
    const { stderr } = await written(4_000, {}, true, 40);
    const last = stderr.split('\r\u001b[K').at(-2) ?? '';
    expect(last).toMatch(/^Copying… (日本語)+日?本?…$/);
    expect(widthOf(last)).toBeLessThan(40);
  });

  it('is not shown without a terminal, with --json or with -q', async () => {
    const nothing = { stdout: '', stderr: '' };
    expect(await written(5_000, {}, false)).toEqual(nothing);
    expect(await written(5_000, { isJson: true })).toEqual(nothing);
    expect(await written(5_000, { isQuiet: true })).toEqual(nothing);
  });

  it('breaks sentences between words on a terminal, and not in a pipe', () => {
    const stream = (isTTY: boolean) => ({ isTTY, columns: 20, write: () => true });
    const outputOf = (isTTY: boolean) =>
      new Output({ stdout: stream(isTTY), stderr: stream(isTTY), stdin: {}, environment: {} });
    const text = 'Nothing was accepted: both changed it.';
    expect(outputOf(true).wrapped(text)).toEqual(['Nothing was', 'accepted: both', 'changed it.']);
    expect(outputOf(false).wrapped(text, { isError: true })).toEqual([text]);
  });
});
