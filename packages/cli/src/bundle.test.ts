import {
  chmodSync,
  lutimesSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBundle } from './bundle.js';

describe('runBundle()', () => {
  let folder = '';
  let directory = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'scratchfs-bundle-'));
    directory = join(folder, 'compiled');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs a bundle that sets a value, as a process that then ends. Returns the value, and whether code was compiled. */
  function runOf(value: string): { readonly value: unknown; readonly isCompiled: boolean } {
    const file = join(folder, 'program.cjs');
    writeFileSync(file, `(function (require, url) { globalThis.bundleValue = '${value}'; })`);
    const before = process.listeners('exit');
    expect(runBundle(file, ['log'], directory)).toBe(true);
    const added = process.listeners('exit').filter((one) => !before.includes(one));
    for (const listener of added) {
      process.off('exit', listener);
      listener(0);
    }
    return { value: (globalThis as { bundleValue?: unknown }).bundleValue, isCompiled: added.length > 0 };
  }

  it('uses compiled code for the same bundle only, not for another one of the same length', () => {
    expect(runOf('one')).toEqual({ value: 'one', isCompiled: true });
    expect(runOf('one')).toEqual({ value: 'one', isCompiled: false });
    expect(runOf('two')).toEqual({ value: 'two', isCompiled: true });
    expect(runOf('two')).toEqual({ value: 'two', isCompiled: false });
    expect(readdirSync(directory).length).toBe(1);
  });

  it('reads nothing from a directory that is a link, or that others can write', () => {
    runOf('one');
    chmodSync(directory, 0o777);
    expect(runOf('one').isCompiled).toBe(true);
    chmodSync(directory, 0o700);
    expect(runOf('one').isCompiled).toBe(false);
    renameSync(directory, join(folder, 'elsewhere'));
    symlinkSync('elsewhere', directory);
    expect(runOf('one').isCompiled).toBe(true);
  });

  it('removes code that is older than 30 days when it writes some', () => {
    runOf('one');
    for (const [name, days] of [
      ['log-v1.0.0-x64', 31],
      ['log-v2.0.0-x64.77.tmp', 31],
      ['log-v3.0.0-x64', 29],
      ['a-link-to-itself', 31],
    ] as const) {
      if (name === 'a-link-to-itself') symlinkSync(name, join(directory, name));
      else writeFileSync(join(directory, name), '');
      const time = Date.now() / 1_000 - days * 86_400;
      lutimesSync(join(directory, name), time, time);
    }
    runOf('two');
    expect(readdirSync(directory).sort()).toEqual([`log-${process.version}-${process.arch}`, 'log-v3.0.0-x64'].sort());
  });
});
