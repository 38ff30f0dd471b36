import { isFsError } from '@scratchfs/core';
import { glob, grep } from '@scratchfs/core/search';
import {
  ALL_OPERATIONS,
  applySync,
  callOf,
  dump,
  HOSTILE_NAMES,
  LONG_NAMES,
  steps,
  TOO_LONG_NAMES,
} from '@scratchfs/testkit';
import { createFileSystem } from 'scratchfs';
import { describe, expect, test } from 'vitest';

/** Runs work that must take less than a second of CPU time. */
async function soon<T>(what: string, work: () => Promise<T> | T): Promise<T> {
  const before = process.cpuUsage();
  const result = await work();
  const { user } = process.cpuUsage(before);
  expect(user / 1000, `CPU milliseconds of ${what}`).toBeLessThan(1_000);
  return result;
}

describe('no name, path or pattern harms the process', () => {
  const names = [
    ...HOSTILE_NAMES,
    ...LONG_NAMES,
    ...TOO_LONG_NAMES,
    'a'.repeat(1_000_000),
    '../'.repeat(300_000),
    '\\'.repeat(500_000),
    '\0',
    '\ud800',
    './'.repeat(500_000),
  ];
  const nameOf = (name: string): string =>
    JSON.stringify(name.slice(0, 20)).concat(name.length > 20 ? ` (${name.length})` : '');
  for (const name of names) {
    test(`as a name in every operation: ${nameOf(name)}`, async () => {
      const fs = createFileSystem({ files: { '/d/f': 'x' } });
      const path = `/d/${name}`;
      const calls: (() => Promise<unknown>)[] = [
        () => fs.writeFile(path, name),
        () => fs.readFile(path),
        () => fs.appendFile(path, 'x'),
        () => fs.stat(path),
        () => fs.rename(path, `${path}2`),
        () => fs.cp('/d/f', path),
        () => fs.symlink(name, `${path}3`),
        () => fs.readFile(`${path}3`),
        () => fs.mkdir(`${path}4/${name}`, { recursive: true }),
        () => fs.rm(`${path}4`, { recursive: true, force: true }),
        () => fs.exists(path),
        () => fs.checkpoint(name),
        () => fs.editFile(path, name, name),
        async () => {
          for await (const _ of glob(fs, name));
        },
      ];
      for (const call of calls) {
        await soon(String(call), () => call().catch((error: unknown) => expect(error).toBeInstanceOf(Error)));
      }
      await soon('dump', () => dump(fs));
      expect(Object.keys(Object.prototype)).toEqual([]);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      expect(fs.readTextSync('/d/f')).toBeTypeOf('string');
    });
  }

  const patterns = [
    `${'a*'.repeat(40)}b`,
    '{a,b}'.repeat(20),
    `${'{'.repeat(500)}a${'}'.repeat(500)}`,
    '**/'.repeat(200),
    '[!a-'.repeat(100),
    '\\'.repeat(1_000),
    '*'.repeat(100_000),
    '{a,b,{c,{d,{e,{f}}}}}'.repeat(10),
    '[[:alpha:]',
    '@(a|b)+(a|b)*(a|b)'.repeat(10),
  ];
  for (const pattern of patterns) {
    test(`as a pattern: ${nameOf(pattern)}`, async () => {
      const fs = createFileSystem({ files: { [`/${'a'.repeat(200)}`]: 'a'.repeat(5_000), '/x/y/z': 'needle' } });
      await soon('glob and grep', async () => {
        try {
          for await (const _ of glob(fs, pattern));
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
        try {
          for await (const _ of grep(fs, pattern));
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      });
    });
  }
});

/** Characters that a message must not contain: control characters, line and direction marks, lone surrogates. */
function hasRawCharacters(message: string): boolean {
  if (!message.isWellFormed()) return true;
  for (const character of message) {
    const point = character.codePointAt(0) as number;
    if (point < 0x20 || (point >= 0x7f && point < 0xa0)) return true;
    if ((point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069)) return true;
  }
  return false;
}

describe('errors', () => {
  test('of 5,000 random operations have a stable code and no raw control character in their message', () => {
    const fs = createFileSystem();
    const codes = new Map<string, number>();
    for (const step of steps(1, 5_000, { operations: ALL_OPERATIONS })) {
      const { on, method, args } = callOf(step);
      if (on === 'fileSystem') {
        const target = fs as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
        try {
          target[`${method}Sync`]?.apply(fs, [...args]);
        } catch (error) {
          expect(isFsError(error)).toBe(true);
          const { message, code } = error as { message: string; code: string };
          if (hasRawCharacters(message)) expect.fail(`raw characters in ${JSON.stringify(message)}`);
          expect(message.startsWith(`${code}: `)).toBe(true);
          expect(message.length).toBeLessThan(1_000);
          codes.set(code, (codes.get(code) ?? 0) + 1);
        }
      } else applySync(fs, step, new Map());
    }
    expect([...codes.keys()].sort()).toEqual(
      expect.arrayContaining(['EEXIST', 'EINVAL', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'ENOTEMPTY']),
    );
  });
});
