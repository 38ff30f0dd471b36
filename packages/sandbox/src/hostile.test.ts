import type { FileSystem, SyncFileSystem } from '@scratchfs/core';
import { afterEach, describe, expect, it } from 'vitest';
import { parseSandboxConfig, type SandboxConfig } from './config.js';
import { Sandbox } from './sandbox.js';
import { memory, refusal } from './testing/memory.js';
import { ALL_PROBES, probe } from './testing/probes.js';
import { outcomeOf, tell } from './testing/tell.js';

const CANARY = 'CANARY-8a1f';
const FILES = { '/pub/ok.txt': 'ok', '/pub/rw/mine.txt': 'mine', '/secret/key': CANARY };

function setUp(): { readonly beneath: SyncFileSystem; readonly sandbox: Sandbox<SyncFileSystem> } {
  const beneath = memory(FILES);
  const config: SandboxConfig = { paths: { pub: { root: '/pub' }, rw: { root: '/pub/rw', mode: 'rw' } } };
  return { beneath, sandbox: new Sandbox(beneath, config) };
}

/** Returns a text object that is another path each time it is read. */
function changing(...paths: readonly string[]): string {
  let at = 0;
  const next = (): string => paths[Math.min(at++, paths.length - 1)] as string;
  return {
    toString: next,
    valueOf: next,
    [Symbol.toPrimitive]: next,
    get length() {
      return next().length;
    },
  } as unknown as string;
}

const METHODS = [
  'canRead',
  'canWrite',
  'check',
  'resolve',
  'approvals',
  'read',
  'write',
  'listFiles',
  'list',
  'derive',
] as const;

describe('hostile arguments', () => {
  it.each(METHODS)('%s accepts only text, and never reads an object twice', async (method) => {
    const { beneath, sandbox } = setUp();
    const call = sandbox[method] as (...args: unknown[]) => Promise<unknown>;
    for (const given of [
      changing('/pub/ok.txt', '/secret/key'),
      Object('/secret/key'),
      ['/secret/key'],
      new Proxy({}, { get: () => '/secret/key' }),
      // biome-ignore lint/suspicious/noThenProperty: what is awaited by mistake would become another value
      { then: (resolve: (value: string) => void) => resolve('/secret/key') },
    ]) {
      const args = method === 'derive' ? [{ allowRead: given }] : method === 'check' ? [given, 'read'] : [given, 'x'];
      const outcome = await Promise.resolve(call.apply(sandbox, args)).then(tell, tell);
      expect(outcome, method).toMatch(/^(TypeError|RangeError|SandboxPermissionEscalationError)/);
      expect(outcome).not.toContain(CANARY);
    }
    expect(beneath.readTextSync('/secret/key')).toBe(CANARY);
  });

  it('the filesystem accepts only text and URLs, in every method that takes a path', async () => {
    const { sandbox } = setUp();
    const fs = sandbox.fileSystem as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const name of [
      'readFile',
      'readText',
      'stat',
      'readdir',
      'realpath',
      'writeFile',
      'rm',
      'mkdir',
      'open',
      'exists',
    ]) {
      const given = changing('/pub/ok.txt', '/secret/key');
      const outcome = await Promise.resolve()
        .then(() => fs[name]?.(given, 'x'))
        .then(tell, tell);
      expect(outcome, name).toContain('TypeError');
    }
  });

  it('paths as URLs and as bytes reach no more than text', async () => {
    const { beneath, sandbox } = setUp();
    beneath.symlinkSync('/secret', '/pub/rw/out');
    for (const each of ALL_PROBES) {
      for (const path of ['/secret/key', '/secret', '/pub/rw/out', '/pub/rw/out/key', '/pub/../secret/key']) {
        for (const convert of [
          (text: string) => new URL(`file://${text}`),
          (text: string) => new TextEncoder().encode(text),
        ]) {
          const args = (at: string, inside: string): readonly unknown[] =>
            each.args(at, inside).map((arg) => (typeof arg === 'string' && arg.startsWith(at) ? convert(arg) : arg));
          const outcome = await outcomeOf(() => probe(sandbox.fileSystem, { ...each, args }, path, '/pub/rw/mine.txt'));
          expect(outcome, `${each.name} ${path}`).not.toContain(CANARY);
        }
      }
    }
    expect(beneath.readTextSync('/secret/key')).toBe(CANARY);
    expect(beneath.readdirSync('/secret')).toEqual(['key']);
  });

  it('no option makes a method follow a forbidden link: dereferenced copies, filters, recursive listings', async () => {
    const { beneath, sandbox } = setUp();
    beneath.symlinkSync('/secret', '/pub/rw/out');
    const fs = sandbox.fileSystem as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const seen: unknown[] = [];
    for (const path of ['/secret', '/pub/rw/out', '/pub/rw/out/key', '/pub', '/']) {
      for (const [name, ...args] of [
        ['cp', path, '/pub/rw/copy', { recursive: true, dereference: true }],
        ['cp', path, '/pub/rw/copy', { recursive: true, filter: (from: string) => seen.push(from) > 0 }],
        ['entries', path, { content: true }],
        ['readdir', path, { recursive: true }],
        ['open', path, 2],
        ['copyFile', path, '/pub/rw/copy', 1],
        ['getEntry', path, { follow: true }],
      ] as const) {
        const outcome = await outcomeOf(() => fs[name]?.(...args));
        expect(outcome, `${name} ${path}`).not.toContain(CANARY);
        expect(outcome.replaceAll(path, ''), `${name} ${path}`).not.toMatch(/secret\/key/);
        if (beneath.existsSync('/pub/rw/copy')) beneath.rmSync('/pub/rw/copy', { recursive: true });
      }
    }
    expect(tell(seen)).not.toContain('key');
  });

  it('read reads an option only once', async () => {
    const { sandbox } = setUp();
    const options = Object.defineProperty({}, 'maxChars', { enumerable: true, get: () => 1 });
    await expect(sandbox.read('pub/ok.txt', options)).rejects.toThrow(TypeError);
    await expect(sandbox.read('pub/ok.txt', new Proxy({}, { ownKeys: () => ['x'] }) as object)).rejects.toThrow(
      TypeError,
    );
  });
});

describe('a polluted prototype', () => {
  const added: string[] = [];
  const pollute = (key: string, value: unknown): void => {
    Object.defineProperty(Object.prototype, key, { value, configurable: true, writable: true, enumerable: false });
    added.push(key);
  };
  afterEach(() => {
    for (const key of added.splice(0)) Reflect.deleteProperty(Object.prototype, key);
  });

  it('adds nothing to a configuration', () => {
    for (const [key, value] of Object.entries({ readonly: false, mode: 'rw', network: true, inherit: true }))
      pollute(key, value);
    expect(parseSandboxConfig({ paths: { pub: { root: '/pub' } } })).toMatchObject({
      network: false,
      paths: { pub: { mode: 'ro' } },
    });
    expect(parseSandboxConfig({ root: { root: '/', readonly: true } }).root?.readonly).toBe(true);
  });

  it('adds nothing to a child or to the arguments of calls', async () => {
    const { sandbox, beneath } = setUp();
    for (const [key, value] of Object.entries({
      inherit: true,
      allowRead: 'pub',
      allow_read: 'pub',
      allowWrite: 'rw',
      readonly: false,
      follow: false,
      path: '/secret/key',
      root: '/',
      recursive: true,
      force: true,
      isWritable: true,
      parent: { canRead: () => true, canWrite: () => true },
    })) {
      pollute(key, value);
    }
    const child = await sandbox.derive({});
    expect([child.readableRoots, child.writableRoots]).toEqual([[], []]);
    expect(await child.canRead('pub/ok.txt')).toBe(false);
    expect(await sandbox.canWrite('pub/ok.txt')).toBe(false);
    expect(await refusal(() => sandbox.fileSystem.rm('/pub/rw'))).toBe('EBUSY');
    expect(await refusal(() => sandbox.fileSystem.readText('/secret/key'))).toBe('PathNotInSandboxError');
    expect(beneath.existsSync('/secret/key')).toBe(true);
  });

  it('cannot intercept the internals of a sandbox', async () => {
    const heard: unknown[] = [];
    for (const key of ['fileSystem', 'namespace', 'policy', 'roots', 'guards', 'executor', 'inner', 'lower']) {
      Object.defineProperty(Object.prototype, key, {
        configurable: true,
        get: () => undefined,
        set(this: object, value: unknown) {
          heard.push(value);
          Object.defineProperty(this, key, { value, configurable: true, writable: true });
        },
      });
      added.push(key);
    }
    const { sandbox } = setUp();
    await sandbox.read('pub/ok.txt');
    // Fields are defined, not assigned, so that no setter is called.
    expect(heard.filter((value) => typeof (value as FileSystem | undefined)?.readFile === 'function')).toEqual([]);
  });
});

describe('a change between a check and its use', () => {
  it('is noticed: a link that is redirected during a call leads nowhere new', async () => {
    const { sandbox, beneath } = setUp();
    beneath.symlinkSync('mine.txt', '/pub/rw/link');
    for (let i = 0; i < 200; i++) {
      const reading = [
        sandbox.read('rw/link'),
        sandbox.fileSystem.readText('/pub/rw/link'),
        sandbox.resolve('rw/link'),
      ];
      const writing = sandbox.write('rw/link', 'written');
      beneath.unlinkSync('/pub/rw/link');
      beneath.symlinkSync(i % 2 === 0 ? '/secret/key' : 'mine.txt', '/pub/rw/link');
      const outcomes = await Promise.allSettled([...reading, writing]);
      expect(tell(outcomes)).not.toContain(CANARY);
      expect(beneath.readTextSync('/secret/key')).toBe(CANARY);
    }
  });

  it('during a walk does not let it enter a directory that became a link', async () => {
    const { sandbox, beneath } = setUp();
    for (let i = 0; i < 50; i++) beneath.mkdirSync(`/pub/d${i}/e`, { recursive: true });
    const seen: string[] = [];
    for await (const { path } of sandbox.fileSystem.walk('/pub')) {
      seen.push(path);
      const at = 49 - (seen.length % 50);
      if (!beneath.existsSync(`/pub/d${at}`) || beneath.lstatSync(`/pub/d${at}`).isSymbolicLink()) continue;
      beneath.rmSync(`/pub/d${at}`, { recursive: true });
      beneath.symlinkSync('/secret', `/pub/d${at}`);
    }
    expect(seen.filter((path) => path.includes('key'))).toEqual([]);
    expect((await sandbox.listFiles('pub')).filter((path) => path.includes('key'))).toEqual([]);
  });

  it('does not affect the identity of open files, and revokes access that is no longer allowed', async () => {
    const { sandbox, beneath } = setUp();
    const handle = await sandbox.fileSystem.open('/pub/rw/mine.txt', 'r+');
    beneath.renameSync('/pub/rw/mine.txt', '/secret/mine.txt');
    expect(await refusal(() => handle.write('x'))).toBeDefined();
    expect(await refusal(() => handle.readFile())).toBeDefined();
    expect(beneath.readTextSync('/secret/mine.txt')).toBe('mine');
    await handle.close();
  });

  it('of configuration or options after their use has no effect', async () => {
    const beneath = memory(FILES);
    const paths = { pub: { root: '/pub', mode: 'ro' as 'ro' | 'rw' } };
    const sandbox = new Sandbox(beneath, { paths });
    const allowRead = ['pub/rw'];
    const child = await sandbox.derive({ allowRead });
    paths.pub.root = '/';
    paths.pub.mode = 'rw';
    allowRead.push('pub');
    expect(await sandbox.canWrite('pub/ok.txt')).toBe(false);
    expect(sandbox.show('/secret/key')).toBeUndefined();
    expect(await child.canRead('pub/ok.txt')).toBe(false);
    for (const list of [sandbox.readableRoots, sandbox.writableRoots, child.readableRoots]) {
      expect(() => (list as string[]).push('secret')).toThrow(TypeError);
    }
  });
});

describe('reachable objects', () => {
  it('do not allow a sandbox to be built from the internals of another one', () => {
    const { sandbox, beneath } = setUp();
    for (const inside of [
      sandbox,
      Object.create(sandbox),
      { ...sandbox },
      Object.assign(Object.create(null), sandbox),
    ]) {
      expect(() => new Sandbox(beneath, inside as unknown as SandboxConfig)).toThrow(TypeError);
    }
  });

  it('methods borrowed from another sandbox act on the receiver, or fail', async () => {
    const { sandbox } = setUp();
    const child = await sandbox.derive();
    const borrowed = sandbox.read as (this: unknown, path: string) => Promise<unknown>;
    expect(await refusal(() => borrowed.call(child, 'pub/ok.txt'))).toBe('PathNotInSandboxError');
    const dressed = Object.create(child, { fileSystem: { value: sandbox.fileSystem } });
    expect(await refusal(() => borrowed.call(dressed, 'pub/ok.txt'))).toBe('TypeError');
    const masked = new Proxy(child, {
      get: (target, key) => (key === 'fileSystem' ? sandbox.fileSystem : Reflect.get(target, key)),
    });
    expect(await refusal(() => masked.read('pub/ok.txt'))).toBe('TypeError');
  });

  it('a filesystem put in place of the guarded one is not used', async () => {
    const { sandbox, beneath } = setUp();
    const child = await sandbox.derive({ allowRead: 'rw' });
    expect(() => Object.assign(child, { fileSystem: beneath })).toThrow(TypeError);
    Object.defineProperty(child, 'fileSystem', { value: beneath });
    expect(await refusal(() => child.read('pub/ok.txt'))).toBe('PathNotInSandboxError');
  });
});
