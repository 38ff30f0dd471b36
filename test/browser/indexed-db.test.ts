import nodeFs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium } from '../../examples/browser/find-chromium.js';
import { GitServer, git } from '../clients/git-server.js';
import { TestBrowser } from './browser.js';
import type { Tools } from './page.js';

/** Defined in the page. */
declare const tools: Tools;

const WRITERS = Number(process.env['BROWSER_WRITERS'] ?? 4);
const INCREMENTS = WRITERS === 4 ? 25 : 100;
const KILLS = Number(process.env['BROWSER_KILLS'] ?? 4);
/** Increments that a killed tab may have made and not reported: messages of the console wait in its process. */
const MAX_UNTOLD = 20;
const LONG = { timeout: 60_000 + WRITERS * 30_000 + KILLS * 5_000 };

/** Error of a write for which the origin has no space. */
const FULL = {
  kind: 'full',
  message: expect.stringMatching(/no more space: \d+ of \d+ bytes are used/),
  mayHaveHappened: false,
};

const found = findChromium();
const isMissing = 'missing' in found;
if (isMissing) console.log(`IndexedDbStorage is not tested in Chromium: ${found.missing}`);

// On a build server a missing browser is a failure.
describe.skipIf(isMissing && !process.env['CI'])('IndexedDbStorage in Chromium', LONG, () => {
  let browser: TestBrowser;
  let made = 0;
  const newName = (): string => `fs-${made++}`;

  beforeAll(async () => {
    if (isMissing) throw new Error(found.missing);
    browser = await TestBrowser.start(found.program);
  }, 600_000);
  afterAll(() => browser?.[Symbol.asyncDispose]());

  /** Opens a tab in a context of its own, whose origin has little space until `liftQuota` is called. */
  async function tabWithQuota(quotaSize: number) {
    const context = await browser.newContext();
    const page = await browser.newTab(context);
    const session = await context.newCDPSession(page);
    const { origin } = browser;
    // Chromium remembers the quota that it has seen, so it is set before the first use.
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize });
    const liftQuota = () => session.send('Storage.overrideQuotaForOrigin', { origin });
    return { context, page, liftQuota };
  }

  it('passes the suite of object stores', async () => {
    const page = await browser.newTab();
    const { passed, failed } = await page.evaluate(() => tools.storeSuite());
    expect(failed).toEqual([]);
    expect(passed).toBeGreaterThan(30);
    await page.close();
  });

  it('keeps files, checkpoints and limits over a reload, and lists filesystems', async () => {
    const page = await browser.newTab();
    const name = newName();
    await page.evaluate(async (name) => {
      const storage = new tools.IndexedDbStorage(name);
      const fs = await tools.createFileSystem({ storage, limits: { maxNodeCount: 50 } });
      await fs.writeFile('/a.txt', 'one');
      await fs.checkpoint('before');
      await fs.writeFile('/a.txt', new Uint8Array(3_000_000).fill(7));
    }, name);
    await page.reload();
    const found = await page.evaluate(async (name) => {
      const storage = new tools.IndexedDbStorage(name);
      const fs = await tools.createFileSystem({ storage, limits: 'stored' });
      const large = (await fs.readFile('/a.txt')) as Uint8Array;
      await fs.rollback('before');
      const listed = await tools.IndexedDbStorage.list();
      const result = { size: large.length, last: large.at(-1), text: await fs.readText('/a.txt'), limits: fs.limits };
      await storage.destroy();
      return { ...result, listed, left: await tools.IndexedDbStorage.list() };
    }, name);
    expect(found).toMatchObject({ size: 3_000_000, last: 7, text: 'one', limits: { maxNodeCount: 50 } });
    expect(found.listed).toContain(name);
    expect(found.left).not.toContain(name);
    await page.close();
  });

  it('tells watchers in another tab, which read the change', async () => {
    const name = newName();
    const [one, two] = [await browser.newTab(), await browser.newTab()];
    const watching = one.evaluate(async (name) => {
      const fs = await tools.createFileSystem({ storage: new tools.IndexedDbStorage(name) });
      const next = fs.watch('/')[Symbol.asyncIterator]().next();
      await fs.writeFile('/ready', '');
      document.title = 'ready';
      const seen: string[] = [(await next).value.type];
      for await (const { type } of fs.watch('/')) {
        seen.push(type);
        if (type === 'overflow') return { seen, text: await fs.readText('/a') };
      }
      return { seen, text: '' };
    }, name);
    await one.waitForFunction(() => document.title === 'ready');
    await one.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
    await two.evaluate(async (name) => {
      const fs = await tools.createFileSystem({ storage: new tools.IndexedDbStorage(name) });
      await fs.writeFile('/a', 'from the other tab');
    }, name);
    expect(await watching).toEqual({ seen: ['create', 'overflow'], text: 'from the other tab' });
    await Promise.all([one.close(), two.close()]);
  });

  it(`loses none of ${WRITERS} × ${INCREMENTS} increments by tabs and workers`, async () => {
    const name = newName();
    const tabs = [await browser.newTab(), await browser.newTab()];
    await newCounter(tabs[0] as Page, name);
    const values = await Promise.all(
      Array.from({ length: WRITERS }, (_, i) =>
        (tabs[i % 2] as Page).evaluate(
          async ([name, times, inWorker]) => {
            if (inWorker) return tools.incrementInWorker(name, times);
            const values: number[] = [];
            await tools.increment(name, times, (value) => values.push(value));
            return values;
          },
          [name, INCREMENTS, i >= 2] as const,
        ),
      ),
    );
    const all = values.flat().sort((a, b) => a - b);
    expect(all).toEqual(Array.from({ length: WRITERS * INCREMENTS }, (_, i) => i + 1));
    expect(await counter(tabs[0] as Page, name)).toBe(WRITERS * INCREMENTS);
    await Promise.all(tabs.map((tab) => tab.close()));
  });

  it(`keeps every acknowledged increment of ${KILLS} tabs that are killed`, async () => {
    const name = newName();
    const page = await browser.newTab();
    await newCounter(page, name);
    let acknowledged = 0;
    for (let kill = 1; kill <= KILLS; kill++) {
      const tab = await browser.newTab();
      const said: number[] = [];
      const begun = new Promise<void>((resolve) => {
        tab.on('console', (message) => {
          said.push(Number(message.text()));
          resolve();
        });
      });
      const ended = tab
        .evaluate((name) => tools.increment(name, 1_000_000, (value) => console.log(value)), name)
        .catch(() => 'killed');
      await begun;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 100));
      const session = await browser.context.newCDPSession(tab);
      await Promise.race([session.send('Page.crash').catch(() => {}), tab.waitForEvent('crash')]);
      expect(await ended).toBe('killed');
      await tab.close();
      acknowledged += said.length;
      const value = await counter(page, name);
      expect(value).toBeGreaterThanOrEqual(acknowledged);
      // Each killed tab may have made increments whose messages did not come through any more.
      expect(value).toBeLessThanOrEqual(acknowledged + MAX_UNTOLD);
      acknowledged = value;
    }
    expect(acknowledged).toBeGreaterThan(0);
    await page.close();
  });

  it('leaves the database to a tab that deletes or upgrades it', async () => {
    const [one, two] = [await browser.newTab(), await browser.newTab()];
    const outcome = async (change: 'delete' | 'upgrade') => {
      const database = newName();
      await one.evaluate(async (database) => {
        const storage = new tools.IndexedDbStorage('main', { database });
        const fs = await tools.createFileSystem({ storage });
        await fs.writeFile('/a', 'x');
        Object.assign(globalThis, { fs });
      }, database);
      const event = await two.evaluate(
        ([database, change]) =>
          new Promise((resolve) => {
            const request = change === 'delete' ? indexedDB.deleteDatabase(database) : indexedDB.open(database, 2);
            request.onblocked = () => resolve('blocked');
            request.onsuccess = () => resolve(request.result?.version ?? 'deleted');
          }),
        [database, change] as const,
      );
      const kind = await one.evaluate(async () => {
        const { fs } = globalThis as unknown as { fs: Awaited<ReturnType<Tools['createFileSystem']>> };
        return fs.readText('/a').catch((error) => error.kind);
      });
      return { event, kind };
    };
    expect(await outcome('delete')).toEqual({ event: 'deleted', kind: 'lost' });
    expect(await outcome('upgrade')).toEqual({ event: 2, kind: 'version' });
    await Promise.all([one.close(), two.close()]);
  });

  it('waits for a tab that blocks the database, until its deadline', async () => {
    const page = await browser.newTab();
    const result = await page.evaluate(async (database) => {
      const blocker = indexedDB.open(database);
      await new Promise((resolve) => {
        blocker.onsuccess = resolve;
      });
      const deletion = indexedDB.deleteDatabase(database);
      await new Promise((resolve) => {
        deletion.onblocked = resolve;
      });
      const options = { database, timeoutMs: 2_000, retries: 0 };
      const open = () => tools.createFileSystem({ storage: new tools.IndexedDbStorage('main', options) });
      const kind = await open().then(
        () => 'opened',
        (error) => error.kind,
      );
      blocker.result.close();
      const fs = await open();
      await fs.writeFile('/a', 'x');
      return { kind, text: await fs.readText('/a') };
    }, newName());
    expect(result).toEqual({ kind: 'timeout', text: 'x' });
    await page.close();
  });

  it('reports a full origin with what is used, keeps its state, and goes on when there is space', async () => {
    const { page, context, liftQuota } = await tabWithQuota(1_000_000);
    const fill = () =>
      page.evaluate(async () => {
        const fs = await tools.createFileSystem({ storage: new tools.IndexedDbStorage() });
        if (!(await fs.exists('/a'))) await fs.writeFile('/a', 'kept');
        // Chromium compresses what it stores.
        const parts = Array.from({ length: 64 }, () => crypto.getRandomValues(new Uint8Array(65_536)));
        const outcome = await fs.writeFile('/large', new Uint8Array(await new Blob(parts).arrayBuffer())).then(
          () => ({ kind: 'written' }),
          ({ kind, message, mayHaveHappened }) => ({ kind, message, mayHaveHappened }),
        );
        return { outcome, text: await fs.readText('/a'), names: await fs.readdir('/') };
      });
    expect(await fill()).toEqual({ outcome: FULL, text: 'kept', names: ['a'] });
    await liftQuota();
    expect(await fill()).toMatchObject({ outcome: { kind: 'written' }, names: ['a', 'large'] });
    await context.close();
  });

  describe('with contents in private files', () => {
    const LENGTH = 3 * 2 ** 20;

    it('passes the suite of object stores, every object that is put a file', async () => {
      const page = await browser.newTab();
      const { passed, failed } = await page.evaluate(() => tools.inWorker('storeSuite', 1));
      expect(failed).toEqual([]);
      expect(passed).toBeGreaterThan(30);
      await page.close();
    });

    it('is refused in a page', async () => {
      const page = await browser.newTab();
      const { kind, message } = await page.evaluate(async () => {
        try {
          return new tools.IndexedDbStorage('page', { contents: 'opfs' }) as never;
        } catch (error) {
          const { kind, message } = error as { kind: string; message: string };
          return { kind, message };
        }
      });
      expect(kind).toBe('unsupported');
      expect(message).toMatch(/Only dedicated workers can write private files: use contents "opfs" in a worker/);
      await page.close();
    });

    it('is read, replaced, collected and destroyed by a page', async () => {
      const page = await browser.newTab();
      const name = newName();
      const result = await page.evaluate(
        async ([name, length]) => {
          const paths = ['/a', '/b'];
          await tools.inWorker('writeLarge', name, paths, length);
          const written = await tools.filesOf(name);
          const read = await tools.readLarge(name, paths, length);
          const fs = await tools.openHere(name);
          const range = new Uint8Array(5);
          const file = await fs.open('/b');
          await file.read(range, length - 3);
          await file.close();
          const storage = new tools.IndexedDbStorage(name);
          const collector = await tools.createFileSystem({ storage });
          await collector.writeFile('/a', 'small');
          await storage.collectGarbage();
          const collected = await tools.filesOf(name);
          // A large content that a page has written, which the worker reads beside its own.
          await tools.writeLarge(name, ['/c'], length);
          const inWorker = await tools.inWorker('readLarge', name, ['/b', '/c'], length);
          const tail = [...((await fs.readFile('/b')) as Uint8Array).slice(-3), 0, 0];
          await storage.destroy();
          return { written, read, range: [...range], tail, collected, inWorker, left: await tools.filesOf(name) };
        },
        [name, LENGTH] as const,
      );
      expect(result).toMatchObject({ written: [LENGTH, LENGTH], read: ['/a', '/b'], collected: [LENGTH] });
      expect(result.range).toEqual(result.tail);
      expect(result).toMatchObject({ inWorker: ['/b', '/c'], left: undefined });
      await page.close();
    });

    it('leaves files if only the database is deleted, which destroy() of the next filesystem of the name deletes', async () => {
      const context = await browser.newContext();
      const page = await browser.newTab(context);
      const left = await page.evaluate(async (length) => {
        await tools.inWorker('writeLarge', 'again', ['/a'], length);
        await new Promise((resolve) => {
          indexedDB.deleteDatabase('scratchfs').onsuccess = resolve;
        });
        const storage = new tools.IndexedDbStorage('again');
        const fs = await tools.createFileSystem({ storage });
        const found = [await fs.readdir('/'), await tools.filesOf('again')];
        await storage.destroy();
        return [...found, await tools.filesOf('again')];
      }, LENGTH);
      expect(left).toEqual([[], [LENGTH], undefined]);
      await context.close();
    });

    it('is written and read by two workers at the same time', async () => {
      const page = await browser.newTab();
      const name = newName();
      const whole = await page.evaluate(
        async ([name, length]) => {
          const paths = [1, 2].map((worker) => Array.from({ length: 6 }, (_, i) => `/${worker}-${i}`));
          await Promise.all(paths.map((own) => tools.inWorker('writeLarge', name, own, length)));
          const read = [0, 1].map(() => tools.inWorker('readLarge', name, paths.flat(), length));
          return (await Promise.all(read)).map((paths) => paths.length);
        },
        [name, LENGTH] as const,
      );
      expect(whole).toEqual([12, 12]);
      await page.close();
    });

    it('does not show a file that a worker has half written when it ends, and collects it', async () => {
      const page = await browser.newTab();
      const name = newName();
      const result = await page.evaluate(async (name) => {
        await tools.inWorker('writeHalf', name);
        const half = await tools.filesOf(name);
        const store = new tools.IndexedDbObjectStore('scratchfs', name, false);
        const listed = (await store.list('objects/')).names;
        const found = await Promise.all(listed.map((name) => store.get(name, 0, 1)));
        const unfinished = found.filter((bytes) => bytes === undefined).length;
        const storage = new tools.IndexedDbStorage(name);
        const fs = await tools.createFileSystem({ storage });
        const names = await fs.readdir('/');
        await storage.collectGarbage();
        return { half, unfinished, names, left: await tools.filesOf(name) };
      }, name);
      expect(result).toEqual({ half: [2 ** 20], unfinished: 1, names: [], left: [] });
      await page.close();
    });

    it(`keeps every acknowledged file of ${KILLS} tabs that are killed`, async () => {
      const name = newName();
      const page = await browser.newTab();
      for (let kill = 0; kill < KILLS; kill++) {
        const tab = await browser.newTab();
        const said: string[] = [];
        const begun = new Promise<void>((resolve) => {
          tab.on('console', (message) => {
            said.push(message.text());
            resolve();
          });
        });
        const paths = Array.from({ length: 100 }, (_, i) => `/${i}`);
        const ended = tab
          .evaluate(([name, paths, length]) => tools.inWorker('writeLarge', name, paths, length), [
            name,
            paths,
            LENGTH,
          ] as const)
          .catch(() => 'killed');
        await begun;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 100));
        const session = await browser.context.newCDPSession(tab);
        await Promise.race([session.send('Page.crash').catch(() => {}), tab.waitForEvent('crash')]);
        expect(await ended).toBe('killed');
        await tab.close();
        const { read, left } = await page.evaluate(
          async ([name, said, length]) => {
            const read = await tools.readLarge(name, said, length);
            const storage = new tools.IndexedDbStorage(name);
            const fs = await tools.createFileSystem({ storage });
            for (const path of await fs.readdir('/')) await fs.rm(`/${path}`);
            await storage.collectGarbage();
            await storage.close();
            return { read, left: await tools.filesOf(name) };
          },
          [name, said, LENGTH] as const,
        );
        expect(read).toEqual(said);
        expect(left).toEqual([]);
      }
      await page.close();
    });

    it('reports a full origin, leaves no part of a file, and goes on when there is space', async () => {
      const { page, context, liftQuota } = await tabWithQuota(2_000_000);
      const fill = () => page.evaluate(() => tools.inWorker('fill'));
      expect(await fill()).toEqual({ outcome: FULL, text: 'kept', names: ['a'], files: [0] });
      await liftQuota();
      expect(await fill()).toEqual({
        outcome: { kind: 'written' },
        text: 'kept',
        names: ['a', 'large'],
        files: [0, 4 * 2 ** 20],
      });
      await context.close();
    });

    it('survives the end of the browser', async () => {
      const folder = nodeFs.mkdtempSync(join(tmpdir(), 'scratchfs-profile-'));
      try {
        const first = await browser.startWithProfile(folder);
        const given = ['kept', ['/a', '/b'], LENGTH] as const;
        const writer = await browser.newTab(first);
        await writer.evaluate((given) => tools.inWorker('writeLarge', ...given), given);
        await first.close();
        const second = await browser.startWithProfile(folder);
        const reader = await browser.newTab(second);
        expect(await reader.evaluate((given) => tools.readLarge(...given), given)).toEqual(['/a', '/b']);
        await second.close();
      } finally {
        nodeFs.rmSync(folder, { recursive: true, force: true });
      }
    });
  });

  it('is denied to a page without an origin of its own', async () => {
    const page = await browser.newTab();
    const outcome = await page.evaluate(async () => {
      const frame = document.createElement('iframe');
      frame.sandbox.add('allow-scripts');
      frame.srcdoc = `<script src="${location.origin}/page.js"></script><script>
        tools.createFileSystem({ storage: new tools.IndexedDbStorage() }).then(
          () => parent.postMessage('opened', '*'),
          ({ kind, message }) => parent.postMessage({ kind, message }, '*'),
        );
      </script>`;
      const told = new Promise((resolve) => addEventListener('message', ({ data }) => resolve(data), { once: true }));
      document.body.append(frame);
      return told;
    });
    expect(outcome).toEqual({ kind: 'denied', message: 'The browser does not let this page use IndexedDB' });
    await page.close();
  });

  it('asks the browser to keep the data', async () => {
    const page = await browser.newTab();
    const [asked, persisted] = await page.evaluate(async () => [
      await tools.IndexedDbStorage.persist(),
      await navigator.storage.persisted(),
    ]);
    expect(asked).toBe(persisted);
    await page.close();
  });

  it('is loaded once for synchronous use in a page, and takes the changes back', async () => {
    const page = await browser.newTab();
    const name = newName();
    const result = await page.evaluate(async (name) => {
      const storage = new tools.IndexedDbStorage(name);
      const fs = await tools.createFileSystem({ storage, files: { '/src/a.ts': 'one' } });
      const copy = await tools.openWorkingCopy(storage);
      const text = copy.fileSystem.readFileSync('/src/a.ts', 'utf8');
      copy.fileSystem.writeFileSync('/src/b.ts', 'two');
      const { kind } = await copy.push();
      return { text, kind, names: await fs.readdir('/src') };
    }, name);
    expect(result).toEqual({ text: 'one', kind: 'pushed', names: ['a.ts', 'b.ts'] });
    await page.close();
  });

  it('takes a clone by isomorphic-git, which a reloaded page reads', async () => {
    const folder = nodeFs.mkdtempSync(join(tmpdir(), 'scratchfs-browser-'));
    try {
      const work = join(folder, 'work');
      nodeFs.mkdirSync(join(work, 'deep'), { recursive: true });
      git(work, 'init', '-q', '-b', 'main');
      nodeFs.writeFileSync(join(work, 'a.txt'), 'a\n');
      nodeFs.writeFileSync(join(work, 'deep/b.bin'), Uint8Array.of(0, 255, 10));
      git(work, 'add', '.');
      git(work, 'commit', '-q', '-m', 'Begin');
      await using server = await GitServer.start(folder);
      const page = await browser.newTab();
      const name = newName();
      const cloned = await page.evaluate(
        ([name, url]) => tools.clone(name as string, url as string),
        [name, `${server.url}/work/.git`],
      );
      expect(cloned).toMatchObject({ head: git(work, 'rev-parse', 'main'), files: ['.git', 'a.txt', 'deep'] });
      expect(cloned.status).toEqual([
        ['a.txt', 1, 1, 1],
        ['deep/b.bin', 1, 1, 1],
      ]);
      await page.reload();
      const bytes = await page.evaluate(async (name) => {
        const fs = await tools.createFileSystem({ storage: new tools.IndexedDbStorage(name) });
        return [...((await fs.readFile('/repository/deep/b.bin')) as Uint8Array)];
      }, name);
      expect(bytes).toEqual([0, 255, 10]);
      await page.close();
    } finally {
      nodeFs.rmSync(folder, { recursive: true, force: true });
    }
  });
});

async function newCounter(page: Page, name: string): Promise<void> {
  await page.evaluate(async (name) => {
    const fs = await tools.createFileSystem({ storage: new tools.IndexedDbStorage(name) });
    await fs.writeFile('/counter', '0');
  }, name);
}

function counter(page: Page, name: string): Promise<number> {
  return page.evaluate(async (name) => {
    const fs = await tools.createFileSystem({ storage: new tools.IndexedDbStorage(name) });
    return Number(await fs.readText('/counter'));
  }, name);
}
