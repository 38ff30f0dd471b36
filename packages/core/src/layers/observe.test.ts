import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { codeOf, promises, sample } from '../testing/sample-file-system.js';
import { type OperationEvent, observe } from './observe.js';
import { readonly } from './readonly.js';
import '../encodings.js';

function watched(files: Readonly<Record<string, string>> = {}) {
  const events: OperationEvent[] = [];
  const fs = observe(sample(files), (event) => {
    events.push(event);
  });
  const told = (): string[] =>
    events.splice(0).map(({ operation, paths, ok }) => [operation, ...paths, ...(ok ? [] : ['refused'])].join(' '));
  return { fs, events, told };
}

describe('observe', () => {
  it('reports every operation once, in both forms, with its paths as given', async () => {
    const { fs, told } = watched();
    await fs.mkdir('d');
    fs.writeFileSync('/d/../f', 'x');
    await fs.rename('/f', '/d/f');
    fs.statSync('/d/f');
    await fs.stats();
    expect(told()).toEqual(['mkdir d', 'writeFile /d/../f', 'rename /f /d/f', 'stat /d/f', 'stats']);
  });

  it('reports failed operations, with the error', async () => {
    const { fs, events, told } = watched();
    expect(await codeOf(() => fs.readFile('/missing'))).toBe('ENOENT');
    expect(() => fs.mkdirSync(5 as never)).toThrow(TypeError);
    expect(events[0]).toMatchObject({ ok: false, error: { code: 'ENOENT' } });
    expect(told()).toEqual(['readFile /missing refused', 'mkdir refused']);
  });

  it("gives times by the filesystem's clock, and bytes for operations that move content", async () => {
    const { fs, events } = watched();
    await fs.writeFile('/f', 'héllo');
    await fs.readFile('/f');
    fs.readTextSync('/f');
    expect(events.map(({ bytes }) => bytes)).toEqual([6, 6, 6]);
    expect(events[0]?.startedAt).toBeGreaterThanOrEqual(1000);
    expect(events[0]?.startedAt).toBeLessThan(1100);
    expect(events[0]?.durationMs).toBeGreaterThan(0);
    expect(Object.isFrozen(events[0])).toBe(true);
  });

  it('shows paths as text, counts bytes of text in any encoding, and reports opendir as readdir', async () => {
    const { fs, events, told } = watched({ '/d/e': '' });
    fs.writeFileSync(new URL('file:///a%20b'), '686f6c61', 'hex');
    await fs.promises.readFile(new TextEncoder().encode('/a b'), { encoding: 'base64' });
    await fs.opendir('/d');
    expect(events.map(({ bytes }) => bytes)).toEqual([4, 4, undefined]);
    expect(told()).toEqual(['writeFile /a b', 'readFile /a b', 'readdir /d']);
  });

  it('reports the operations of handles and streams', async () => {
    const { fs, told } = watched();
    const handle = await fs.open('/f', 'w');
    await handle.write('abc');
    await handle.close();
    await new Response(fs.createReadStream('/f')).text();
    expect(told()).toEqual([
      'open /f',
      'handle.write /f',
      'handle.close /f',
      'open /f',
      'handle.read /f',
      'handle.read /f',
      'handle.close /f',
    ]);
  });

  it('carries the actor, also of open files, forks and transactions', async () => {
    const events: OperationEvent[] = [];
    const fs = observe(sample(), (event) => events.push(event), { actor: 'agent 7' });
    const handle = await fs.open('/f', 'w');
    await handle.close();
    await fs.transaction(async (inside) => inside.mkdir('/d'));
    (await fs.fork()).statSync('/');
    expect(events.map(({ operation }) => operation)).toContain('stat');
    expect(new Set(events.map(({ actor }) => actor))).toEqual(new Set(['agent 7']));
    expect(() => observe(sample(), () => {}, { actor: 7 as never })).toThrow(TypeError);
    expect(() => observe(sample(), () => {}, { versions: 'yes' as never })).toThrow(TypeError);
  });

  it('reports the versions of a changed entry before and after, if asked to', async () => {
    const lower = sample({ '/f': 'x', '/d/g': 'y' });
    const events: OperationEvent[] = [];
    const fs = observe(lower, (event) => events.push(event), { versions: true });
    const at = (path: string): string | undefined =>
      lower.existsSync(path) ? lower.lstatSync(path).version : undefined;
    const steps: [string, string, () => unknown][] = [
      ['/f', '/f', () => fs.writeFile('/f', 'y')],
      ['/f', '/f', () => fs.appendFileSync('/f', 'y')],
      ['/f', '/f', () => fs.chmodSync('/f', 0o600)],
      ['/new', '/new', () => fs.writeFile('/new', 'y')],
      ['/new', '/d/new', () => fs.renameSync('/new', '/d/new')],
      ['/copy', '/copy', () => fs.cp('/d', '/copy', { recursive: true })],
      ['/copy', '/copy', () => fs.rm('/copy', { recursive: true })],
      ['/d/h', '/d/h', () => fs.linkSync('/d/g', '/d/h')],
      ['/l', '/l', () => fs.symlink('/d', '/l')],
      ['/f', '/f', () => fs.mkdirSync('/f')],
    ];
    for (const [from, to, step] of steps) {
      const before = at(from);
      const failed = await codeOf(async () => step());
      const event = events.pop() as OperationEvent;
      expect([event.operation, event.before], event.operation).toEqual([event.operation, before]);
      expect(event.after, event.operation).toBe(failed === undefined ? at(to) : undefined);
    }
    const made = fs.mkdtempSync('/d/');
    expect(events.pop()).toMatchObject({ after: at(made) });
    const handle = await fs.open('/f', 'r+');
    const before = at('/f');
    await handle.write('z');
    expect(events.pop()).toMatchObject({ operation: 'handle.write', before, after: at('/f') });
    for (const read of [() => fs.readFileSync('/f'), () => handle.stat(), () => fs.checkpoint()]) {
      await read();
      expect(events.pop()).not.toHaveProperty('before');
    }
  });

  it('captures content before it looks up the version', async () => {
    const fs = observe(sample(), () => {}, { versions: true });
    const bytes = Uint8Array.of(1, 2);
    const done = fs.writeFile('/f', bytes);
    bytes.fill(9);
    await done;
    const handle = await fs.open('/f', 'r+');
    const more = Uint8Array.of(3);
    const written = handle.write(more, 2);
    more.fill(9);
    await written;
    expect([...fs.readFileSync('/f')]).toEqual([1, 2, 3]);
  });

  it('marks operations in a transaction and reports its end', async () => {
    const { fs, events } = watched();
    await fs.transaction(async (inside) => {
      await inside.writeFile('/a', '1');
      await codeOf(() => inside.mkdir('/a'));
    });
    fs.transactionSync((inside) => inside.writeFileSync('/b', '2'));
    expect(events.map(({ operation, ok, transaction }) => [operation, ok, transaction])).toEqual([
      ['writeFile', true, { id: 1, attempt: 1 }],
      ['mkdir', false, { id: 1, attempt: 1 }],
      ['transaction', true, { id: 1, attempt: 1 }],
      ['writeFile', true, { id: 2, attempt: 1 }],
      ['transaction', true, { id: 2, attempt: 1 }],
    ]);
  });

  it('numbers the attempts of a transaction that had to run again', async () => {
    const { fs, events } = watched({ '/n': '0' });
    let runs = 0;
    await fs.transaction(async (inside) => {
      await inside.writeFile('/n', 'x');
      runs += 1;
      if (runs === 1) await fs.writeFile('/n', '1');
    });
    const seen = events.map(({ operation, paths, transaction }) => [operation, paths[0], transaction?.attempt]);
    expect(seen).toEqual([
      ['writeFile', '/n', 1],
      ['writeFile', '/n', undefined],
      ['writeFile', '/n', 2],
      ['transaction', undefined, 2],
    ]);
  });

  it('reports a walk that is left early, and one that cannot begin', async () => {
    const { fs, told } = watched({ '/a': '', '/b': '' });
    for await (const _ of fs.walk('/')) break;
    fs.walkSync('/').next();
    expect(() => fs.walkSync('/missing').next()).toThrow('ENOENT');
    expect(told()).toEqual(['walk /', 'walk /', 'walk /missing refused']);
  });

  it('observes forks, and names the code given to run', async () => {
    const { fs, events } = watched();
    const fork = fs.forkSync();
    fork.writeFileSync('/f', 'x');
    fs.runSync(function countNames(view) {
      return view.tree.root.files;
    }, []);
    expect(events.map(({ operation, detail }) => [operation, detail])).toEqual([
      ['fork', undefined],
      ['writeFile', undefined],
      ['run', 'countNames'],
    ]);
  });

  it('does not let an error of the listener fail the operation', async () => {
    const errors: unknown[] = [];
    const fail = new Error('full');
    const onListenerError = (error: unknown) => errors.push(error);
    const throwing = observe(sample(), () => Promise.reject(fail) as never, { onListenerError });
    const rejecting = observe(
      sample(),
      () => {
        throw fail;
      },
      { onListenerError },
    );
    throwing.writeFileSync('/f', 'x');
    await rejecting.writeFile('/f', 'x');
    expect(errors).toEqual([fail, fail]);
    expect(await rejecting.readText('/f')).toBe('x');
  });

  it('keeps the result of an operation if the handler of listener errors throws', async () => {
    const uncaught: unknown[] = [];
    vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((work) => {
      try {
        work();
      } catch (error) {
        uncaught.push(error);
      }
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const [first, second] = [new Error('listener'), new Error('handler')];
    const fail = (error: Error) => (): never => {
      throw error;
    };
    const fs = observe(sample(), fail(first), { onListenerError: fail(second) });
    fs.writeFileSync('/f', 'x');
    expect(await fs.readText('/f')).toBe('x');
    expect(uncaught).toEqual([second, second]);
  });

  it('reports refusals of a lower layer, and closes without closing that', async () => {
    const events: OperationEvent[] = [];
    const base = sample({ '/f': 'x' });
    const fs = observe(promises(readonly(base)), (event) => {
      events.push(event);
    });
    expect(await codeOf(() => fs.unlink('/f'))).toBe('EROFS');
    await fs.close();
    expect(await codeOf(() => fs.readText('/f'))).toBe('EBADF');
    expect(base.readTextSync('/f')).toBe('x');
    expect(events.map(({ operation, ok }) => [operation, ok])).toEqual([
      ['unlink', false],
      ['close', true],
      ['readText', false],
    ]);
  });

  it('refuses an invalid listener', () => {
    expect(() => observe(sample(), undefined as never)).toThrow(TypeError);
    expect(() => observe(sample(), () => {}, { clok: 1 } as never)).toThrow(TypeError);
  });
});
