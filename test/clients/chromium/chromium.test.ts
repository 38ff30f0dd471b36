import nodeFs from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium } from '../../../examples/browser/find-chromium.js';
import { GitServer, git } from '../git-server.js';
import { HostFolder, writeFiles } from '../grounds.js';
import type { Answer, Exported, Form, Jobs } from './page.js';

/** Defined in the page. */
declare const jobs: Jobs;

const found = findChromium();
const isMissing = 'missing' in found;
if (isMissing) console.log(`isomorphic-git is not tested in Chromium: ${found.missing}`);

// On a build server a missing browser is a failure.
describe.skipIf(isMissing && !process.env.CI)('isomorphic-git in Chromium', () => {
  let browser: Browser;
  let page: Page;
  let code: string;
  const complaints: string[] = [];
  const site = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'));

  beforeAll(async () => {
    if (isMissing) throw new Error(found.missing);
    const { outputFiles, metafile } = await build({
      entryPoints: [join(import.meta.dirname, 'page.ts')],
      bundle: true,
      write: false,
      format: 'iife',
      platform: 'browser',
      target: 'es2022',
      conditions: ['@scratchfs/source'],
      metafile: true,
      logLevel: 'error',
    });
    code = outputFiles[0]?.text ?? '';
    const ours = Object.entries(metafile.inputs).filter(([path]) => /(^|\/)packages\//.test(path));
    const foreign = ours.flatMap(([, { imports }]) => imports.filter(({ path }) => !/(^|\/)packages\//.test(path)));
    expect(ours.length).toBeGreaterThan(20);
    expect(foreign.filter(({ path }) => !path.includes('msgpackr'))).toEqual([]);
    const args = [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
    ];
    browser = await chromium.launch({ executablePath: found.program, args, timeout: 120_000 });
    page = await browser.newPage();
    page.on('pageerror', (error) => complaints.push(String(error)));
    // The page comes from another origin than the repository.
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    await page.addScriptTag({ content: code });
  }, 600_000);

  afterAll(async () => {
    await browser?.close();
    site.close();
  });

  it.each<Form>(['promises', 'callbacks'])('makes a repository that passes git fsck, through %s', async (form) => {
    const { ids, status, files } = await page.evaluate((how) => jobs.history(how), form);
    using folder = new HostFolder();
    write(folder.root, files);
    expect(git(folder.root, 'fsck', '--strict', '--full', '--no-dangling')).toBe('');
    expect(git(folder.root, 'rev-parse', 'main', 'main^1', 'main^2', 'main^1^').split('\n')).toEqual([
      ids.merged,
      ids.main,
      ids.side,
      ids.base,
    ]);
    expect(git(folder.root, 'status', '--porcelain')).toBe('');
    expect(nodeFs.readFileSync(join(folder.root, 'link'), 'utf8')).toBe('ONE\ntwo\nTHREE\n');
    expect(status).toEqual(['a.txt 1 1 1', 'deep/er/ünï.txt 1 1 1', 'link 1 1 1', 'side.txt 1 1 1']);
    expect(theirBase()).toBe(ids.base);
    expect(complaints).toEqual([]);
  });

  it.each<Form>(['promises', 'callbacks'])('clones over http and pushes, through %s', async (form) => {
    using folder = new HostFolder();
    const [work, origin, copy] = ['work', 'origin.git', 'copy'].map((name) => join(folder.root, name)) as [
      string,
      string,
      string,
    ];
    nodeFs.mkdirSync(work);
    git(work, 'init', '-q', '-b', 'main');
    writeFiles(
      { fs: nodeFs, root: work },
      { 'a.txt': 'a\n', 'deep/b.bin': Uint8Array.of(0, 255, 10), 'run.sh': '#!/bin/sh\n' },
    );
    nodeFs.chmodSync(join(work, 'run.sh'), 0o755);
    git(work, 'add', '.');
    git(work, 'commit', '-q', '-m', 'Begin');
    git(folder.root, 'clone', '-q', '--bare', work, origin);
    git(origin, 'config', 'http.receivepack', 'true');
    await using server = await GitServer.start(folder.root);
    const answer: Answer = await page.evaluate(
      ([how, url]) => jobs.clone(how as Form, url as string),
      [form, `${server.url}/origin.git`],
    );
    expect(answer.ids.cloned).toBe(git(work, 'rev-parse', 'main'));
    expect(git(origin, 'rev-parse', 'main')).toBe(answer.ids.pushed);
    expect(git(origin, 'fsck', '--strict', '--full', '--no-dangling')).toBe('');
    nodeFs.mkdirSync(copy);
    write(copy, answer.files);
    expect(git(copy, 'fsck', '--strict', '--full', '--no-dangling')).toBe('');
    expect(git(copy, 'status', '--porcelain')).toBe('');
    expect(nodeFs.readFileSync(join(copy, 'deep/b.bin'))).toEqual(Buffer.from([0, 255, 10]));
    expect(nodeFs.statSync(join(copy, 'run.sh')).mode & 0o777).toBe(0o755);
    expect(complaints).toEqual([]);
  });
});

/** Creates the first commit of the page's history with git itself. */
function theirBase(): string {
  using folder = new HostFolder();
  const { root } = folder;
  git(root, 'init', '-q', '-b', 'main');
  writeFiles({ fs: nodeFs, root }, { 'a.txt': 'one\ntwo\nthree\n', 'deep/er/ünï.txt': 'é\n' });
  nodeFs.symlinkSync('a.txt', join(root, 'link'));
  git(root, 'add', '.');
  git(root, 'commit', '-q', '-m', 'Begin');
  return git(root, 'rev-parse', 'HEAD');
}

function write(folder: string, files: readonly Exported[]): void {
  for (const file of files) {
    const path = join(folder, file.path);
    nodeFs.mkdirSync(dirname(path), { recursive: true });
    if ('target' in file) nodeFs.symlinkSync(file.target, path);
    else nodeFs.writeFileSync(path, Uint8Array.from(file.bytes), { mode: file.mode });
  }
}
