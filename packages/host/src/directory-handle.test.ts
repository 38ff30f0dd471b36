import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { DirectoryHandle } from './directory-handle.js';
import { HAS_DESCRIPTOR_PATHS } from './path-handle.js';

const top = mkdtempSync(join(tmpdir(), 'scratchfs-held-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));
let root = '';
let n = 0;

beforeEach(() => {
  root = join(top, String(++n));
  mkdirSync(join(root, 'd/e'), { recursive: true });
  mkdirSync(join(root, 'outside'));
  writeFileSync(join(root, 'outside/f'), 'OUTSIDE');
  writeFileSync(join(root, 'd/f'), 'inside');
  symlinkSync('../outside', join(root, 'd/out'));
  symlinkSync('../outside/f', join(root, 'd/to-f'));
  execFileSync('mkfifo', [join(root, 'd/pipe')]);
});

const text = (held: DirectoryHandle, name: string): string | undefined => held.read(name)?.bytes.toString();

describe('a held directory', () => {
  it('read() reads regular files, and nothing that a link leads to', () => {
    using held = DirectoryHandle.at(join(root, 'd'));
    expect(held.names().sort()).toEqual(['e', 'f', 'out', 'pipe', 'to-f']);
    expect(text(held, 'f')).toBe('inside');
    expect(held.read('f')?.stat.size).toBe(6n);
    for (const name of ['to-f', 'e', 'pipe', 'nowhere', 'f/x']) expect(text(held, name), name).toBeUndefined();
    expect(() => held.read('x'.repeat(300))).toThrow(/ENAMETOOLONG/);
  });

  it('read() does not open a socket', async () => {
    const server = createServer().listen(join(root, 'd/socket'));
    await once(server, 'listening');
    try {
      using held = DirectoryHandle.at(join(root, 'd'));
      expect(text(held, 'socket')).toBeUndefined();
    } finally {
      server.close();
    }
  });

  it.runIf(process.platform === 'linux')(
    'returns names that are not UTF-8 as bytes (needs a disk that takes them)',
    () => {
      const odd = Buffer.from([0x61, 0xff]);
      const place = Buffer.concat([Buffer.from(`${root}/d/e/`), odd]);
      mkdirSync(place);
      writeFileSync(Buffer.concat([place, Buffer.from('/f')]), 'odd');
      writeFileSync(join(root, 'd/e/\ufffd'), 'text after all');
      writeFileSync(join(root, 'd/e/plain'), 'plain');
      using held = DirectoryHandle.at(join(root, 'd/e'));
      const names = held.names();
      expect(names.filter((name) => typeof name === 'string').sort()).toEqual(['plain', '\ufffd']);
      expect(names.filter((name) => typeof name !== 'string')).toEqual([odd]);
      expect(held.stat(odd)?.isDirectory()).toBe(true);
      using inner = held.enter(odd);
      expect(text(inner, 'f')).toBe('odd');
      held.remove(odd);
      expect(held.names().sort()).toEqual(['plain', '\ufffd']);
    },
  );

  it('stat() reports entries as they are', () => {
    using held = DirectoryHandle.at(join(root, 'd'));
    expect(held.stat('out')?.isSymbolicLink()).toBe(true);
    expect(held.stat('f')?.size).toBe(6n);
    expect(held.stat('nowhere')).toBeUndefined();
    expect(held.readLink('to-f')).toEqual(Buffer.from('../outside/f'));
    held.link('bytes', Buffer.from([0x62, 0xff]), 'tmp');
    expect(held.readLink('bytes')).toEqual(Buffer.from([0x62, 0xff]));
    for (const name of ['f', 'nowhere', 'f/x']) expect(held.readLink(name), name).toBeUndefined();
    expect(() => held.readLink('x'.repeat(300))).toThrow(/ENAMETOOLONG/);
  });

  it('opens a directory to its owner and keeps the permissions of others', () => {
    using held = DirectoryHandle.at(join(root, 'd'));
    chmodSync(join(root, 'd/e'), 0o2555);
    held.enterAsOwner('e')[Symbol.dispose]();
    expect(lstatSync(join(root, 'd/e')).mode & 0o7777).toBe(0o2755);
  });

  it('leaves alone a directory that is open to its owner, the target of a link, and a missing name', () => {
    using held = DirectoryHandle.at(join(root, 'd'));
    chmodSync(join(root, 'd/e'), 0o700);
    chmodSync(join(root, 'outside'), 0o500);
    const times = () => ['d/e', 'outside'].map((name) => lstatSync(join(root, name), { bigint: true }).ctimeNs);
    const before = times();
    held.enterAsOwner('e')[Symbol.dispose]();
    expect(() => held.enterAsOwner('out')).toThrow(/ENOTDIR|ELOOP/);
    expect(() => held.enterAsOwner('nowhere')).toThrow(/ENOENT/);
    expect(times()).toEqual(before);
  });

  it('enters directories but not links', () => {
    using held = DirectoryHandle.at(join(root, 'd'));
    using inner = held.enter('e');
    expect(inner.names()).toEqual([]);
    for (const name of ['out', 'f', 'nowhere']) expect(() => held.enter(name), name).toThrow(/ENOTDIR|ENOENT|ELOOP/);
  });

  it('follows the links in the path that the caller passes', () => {
    symlinkSync(join(root, 'd'), join(root, 'way'));
    using held = DirectoryHandle.at(join(root, 'way'));
    expect(text(held, 'f')).toBe('inside');
  });

  it.skipIf(!HAS_DESCRIPTOR_PATHS)('is the same directory whatever takes its name', () => {
    using held = DirectoryHandle.at(join(root, 'd'));
    renameSync(join(root, 'd'), join(root, 'away'));
    symlinkSync('outside', join(root, 'd'));
    held.write('new', Buffer.from('new'), 0o640, 'tmp');
    held.makeDirectory('made');
    held.link('link', Buffer.from('f'), 'tmp');
    held.remove('f');
    expect(readdirSync(join(root, 'outside'))).toEqual(['f']);
    expect(readdirSync(join(root, 'away')).sort()).toEqual(['e', 'link', 'made', 'new', 'out', 'pipe', 'to-f']);
    expect(readFileSync(join(root, 'away/new'), 'utf8')).toBe('new');
    expect(lstatSync(join(root, 'away/new')).mode & 0o777).toBe(0o640);
    expect(readlinkSync(join(root, 'away/link'))).toBe('f');
  });

  it('write() replaces a link of that name, and not its target', () => {
    using held = DirectoryHandle.at(join(root, 'd'));
    held.write('to-f', Buffer.from('mine'), 0o644, 'tmp');
    expect(readFileSync(join(root, 'outside/f'), 'utf8')).toBe('OUTSIDE');
    expect(lstatSync(join(root, 'd/to-f')).isFile()).toBe(true);
    expect(existsSync(join(root, 'd/tmp'))).toBe(false);
  });

  it('write() does not write through a link that has the temporary name', () => {
    symlinkSync('../outside/f', join(root, 'd/tmp'));
    using held = DirectoryHandle.at(join(root, 'd'));
    expect(() => held.write('x', Buffer.from('mine'), 0o644, 'tmp')).toThrow(/EEXIST|ELOOP/);
    expect(readFileSync(join(root, 'outside/f'), 'utf8')).toBe('OUTSIDE');
  });

  it('remove() removes trees, and links instead of their targets', () => {
    using held = DirectoryHandle.at(root);
    writeFileSync(join(root, 'd/e/deep'), 'deep');
    held.remove('nowhere');
    held.remove('d');
    expect(readdirSync(root)).toEqual(['outside']);
    expect(readdirSync(join(root, 'outside'))).toEqual(['f']);
  });

  it('removeEmpty() removes a directory only if it is empty, and returns whether it did', () => {
    using held = DirectoryHandle.at(join(root, 'd'));
    expect(held.removeEmpty('e')).toBe(true);
    using above = DirectoryHandle.at(root);
    for (const name of ['d', 'nowhere', 'd/f']) expect(above.removeEmpty(name), name).toBe(false);
    expect(() => above.removeEmpty('x'.repeat(300))).toThrow(/ENAMETOOLONG/);
  });

  it('holds no descriptor after its block', () => {
    const open = (): number => readdirSync('/proc/self/fd').length;
    const before = open();
    const held = DirectoryHandle.at(root);
    held.remove('d');
    expect(text(held, 'nowhere')).toBeUndefined();
    held.write('file', Buffer.from('file'), 0o644, 'tmp');
    expect(text(held, 'file')).toBe('file');
    expect(text(held, 'outside')).toBeUndefined();
    expect(() => held.write('outside', Buffer.from('no directory'), 0o644, 'tmp')).toThrow(/EISDIR/);
    chmodSync(join(root, 'outside'), 0o500);
    held.enterAsOwner('outside')[Symbol.dispose]();
    held[Symbol.dispose]();
    expect(open()).toBe(before);
  });

  it('leaves nothing of a file or a link that cannot get its name', () => {
    using held = DirectoryHandle.at(join(root, 'd'));
    const before = held.names().sort();
    const none = new Uint8Array();
    expect(() => held.write('e', none, 0o644, '.tmp')).toThrow(/EISDIR/);
    expect(() => held.link('e', none, '.tmp')).toThrow();
    expect(() => held.link('e', new TextEncoder().encode('x'), '.tmp')).toThrow(/EISDIR/);
    expect(held.names().sort()).toEqual(before);
  });
});
