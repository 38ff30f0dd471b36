import { createHash } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostFileSystem } from '@scratchfs/host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALL_PROBES, probe } from '../../packages/sandbox/src/testing/probes.js';
import { outcomeOf, tell } from '../../packages/sandbox/src/testing/tell.js';
import { fill } from './host-changes.js';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'scratchfs-read-only-'));
  fill(root);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/**
 * Returns everything that the host stores of a directory: contents, owners, modes, and all times except those that
 * looking at links and directories changes.
 */
function kept(): string {
  return ['.', ...readdirSync(root, { recursive: true, encoding: 'utf8' })]
    .sort()
    .map((name) => {
      const path = join(root, name);
      const { mode, uid, gid, size, nlink, ino, mtimeNs, ctimeNs, atimeNs } = lstatSync(path, { bigint: true });
      const isFile = (mode & 0o170000n) === 0o100000n;
      const held = isFile ? `${atimeNs} ${createHash('sha256').update(read(path, atimeNs)).digest('hex')}` : '';
      return [name, mode, uid, gid, size, nlink, ino, mtimeNs, ctimeNs, held].join(' ');
    })
    .join('\n');
}

const contents = new Map<string, { readonly atime: bigint; readonly bytes: Uint8Array }>();

/** Reads a file only if its access time has changed: a read here would change the time that is compared. */
function read(path: string, atime: bigint): Uint8Array {
  const known = contents.get(path);
  if (known?.atime === atime) return known.bytes;
  const bytes = readFileSync(path);
  contents.set(path, { atime: lstatSync(path, { bigint: true }).atimeNs, bytes });
  return bytes;
}

const PATHS = [
  '/dir/a',
  '/dir',
  '/dir/sub/second',
  '/dir/link',
  '/nowhere',
  '/dir/a/x',
  '/',
  '/a\0b',
  '/dir/../../x',
  '/~',
];
const named = ALL_PROBES.map(
  (each) => [`${each.name}(${tell([...each.args('P', 'I'), each.options])})`, each] as const,
);

describe('a read-only directory of the host', () => {
  it.each(named)('%s changes nothing on the host, and no outcome contains its path', async (_title, each) => {
    kept();
    const before = kept();
    await using fs = hostFileSystem(root, { readonly: true });
    for (const path of PATHS) {
      const outcome = await outcomeOf(() => probe(fs, each, path, '/dir/b'));
      expect(outcome, path).not.toContain(root);
      if (path.includes('\0')) expect(outcome).toMatch(/^(error TypeError|answer false)/);
      if (each.effect === 'write') expect(outcome, path).toMatch(/^error|^answer (undefined|.*EROFS)/);
    }
    expect(kept()).toBe(before);
  });
});
