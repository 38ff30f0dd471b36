import type { CallOptions, FileSystem } from '@scratchfs/core';
import { differences, dump } from '../dump.js';
import { equal, ok } from './assert.js';
import { type Add, collect, plant } from './context.js';

/** Promise methods that take a signal, with arguments that would succeed. */
export const SIGNAL_CALLS: Readonly<Record<string, (fs: FileSystem, options: CallOptions) => Promise<unknown>>> = {
  exists: (fs, options) => fs.exists('/f', options),
  isFile: (fs, options) => fs.isFile('/f', options),
  isDirectory: (fs, options) => fs.isDirectory('/f', options),
  getEntry: (fs, options) => fs.getEntry('/f', options),
  stat: (fs, options) => fs.stat('/f', options),
  lstat: (fs, options) => fs.lstat('/f', options),
  access: (fs, options) => fs.access('/f', 0, options),
  realpath: (fs, options) => fs.realpath('/l', options),
  mkdir: (fs, options) => fs.mkdir('/new', options),
  mkdtemp: (fs, options) => fs.mkdtemp('/t-', options),
  readdir: (fs, options) => fs.readdir('/', options),
  walk: (fs, options) => collect(fs.walk('/', options)),
  readFile: (fs, options) => fs.readFile('/f', options),
  readText: (fs, options) => fs.readText('/f', options),
  readLines: (fs, options) => fs.readLines('/f', options),
  writeFile: (fs, options) => fs.writeFile('/f', 'new', options),
  writeLines: (fs, options) => fs.writeLines('/f', ['new'], options),
  appendFile: (fs, options) => fs.appendFile('/f', 'new', options),
  editFile: (fs, options) => fs.editFile('/f', 'old', 'new', options),
  truncate: (fs, options) => fs.truncate('/f', 1, options),
  open: (fs, options) => fs.open('/f', 'w', options),
  rm: (fs, options) => fs.rm('/f', options),
  unlink: (fs, options) => fs.unlink('/f', options),
  rmdir: (fs, options) => fs.rmdir('/d', options),
  cp: (fs, options) => fs.cp('/f', '/new', options),
  copyFile: (fs, options) => fs.copyFile('/f', '/new', options),
  rename: (fs, options) => fs.rename('/f', '/new', options),
  symlink: (fs, options) => fs.symlink('x', '/new', options),
  readlink: (fs, options) => fs.readlink('/l', options),
  link: (fs, options) => fs.link('/f', '/new', options),
  chmod: (fs, options) => fs.chmod('/f', 0, options),
  chown: (fs, options) => fs.chown('/f', 1, 1, options),
  lchown: (fs, options) => fs.lchown('/l', 1, 1, options),
  utimes: (fs, options) => fs.utimes('/f', 1, 1, options),
  lutimes: (fs, options) => fs.lutimes('/l', 1, 1, options),
  stats: (fs, options) => fs.stats(options),
  transaction: (fs, options) => fs.transaction((tx) => tx.writeFile('/f', 'new'), options),
};

export async function plantForSignals(fs: FileSystem): Promise<void> {
  await plant(fs, { '/f': 'old', '/d': null, '/l': { to: 'f' } });
}

export function signalCases(add: Add): void {
  for (const [method, call] of Object.entries(SIGNAL_CALLS)) {
    add(
      `${method}() with an aborted signal rejects with its reason and changes nothing`,
      async ({ fs }) => {
        await plantForSignals(fs);
        const before = await dump(fs);
        const reason = new Error(`no ${method}`);
        let error: unknown;
        try {
          await call(fs, { signal: AbortSignal.abort(reason) });
        } catch (thrown) {
          error = thrown;
        }
        ok(error === reason, `${method}() ${error === undefined ? 'succeeded' : `rejected with ${String(error)}`}`);
        equal(differences(before, await dump(fs)), []);
      },
      { promiseOnly: true },
    );
  }

  add(
    'a signal that never aborts has no effect and keeps no listener',
    async ({ fs }) => {
      await plantForSignals(fs);
      const { signal } = new AbortController();
      let listeners = 0;
      const [listen, leave] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
      signal.addEventListener = (...args: Parameters<typeof listen>) => {
        listeners += 1;
        listen(...args);
      };
      signal.removeEventListener = (...args: Parameters<typeof leave>) => {
        listeners -= 1;
        leave(...args);
      };
      for (const method of [
        'writeFile',
        'readFile',
        'stat',
        'readdir',
        'rename',
        'walk',
        'chown',
        'transaction',
      ] as const) {
        await SIGNAL_CALLS[method]?.(fs, { signal });
        if (method === 'rename') await fs.rename('/new', '/f');
      }
      equal(listeners, 0, 'listeners that stayed');
    },
    { promiseOnly: true },
  );

  add(
    'a signal that is not an AbortSignal is refused',
    async ({ fs, fails }) => {
      await plantForSignals(fs);
      for (const signal of [null, 'abort', {}, true]) {
        await fails(() => fs.writeFile('/f', 'x', { signal: signal as never }), 'TypeError');
        await fails(() => fs.stat('/f', { signal: signal as never }), 'TypeError');
      }
    },
    { promiseOnly: true },
  );

  add(
    'an abort after success has no effect',
    async ({ fs }) => {
      const controller = new AbortController();
      await fs.writeFile('/f', 'kept', { signal: controller.signal });
      controller.abort();
      equal(await fs.readText('/f'), 'kept');
    },
    { promiseOnly: true },
  );
}
