import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** Time limit of a start and of a call to a page. */
const CALL_MS = 120_000;
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A browser with tabs of one origin, which serves `page.ts`. */
export class TestBrowser implements AsyncDisposable {
  readonly #program: string;
  readonly #browser: Browser;
  readonly #site: Server;
  readonly context: BrowserContext;

  private constructor(program: string, browser: Browser, site: Server, context: BrowserContext) {
    this.#program = program;
    this.#browser = browser;
    this.#site = site;
    this.context = context;
  }

  static async start(program: string): Promise<TestBrowser> {
    const { outputFiles } = await build({
      entryPoints: [join(import.meta.dirname, 'page.ts')],
      bundle: true,
      write: false,
      format: 'iife',
      platform: 'browser',
      target: 'es2022',
      conditions: ['@scratchfs/source'],
      logLevel: 'error',
    });
    const code = outputFiles[0]?.text ?? '';
    const site = createServer(({ url }, response) =>
      url === '/page.js'
        ? response.setHeader('content-type', 'text/javascript; charset=utf-8').end(code)
        : response
            .setHeader('content-type', 'text/html; charset=utf-8')
            .end('<!doctype html><script src="/page.js"></script>'),
    );
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const browser = await chromium.launch({ executablePath: program, args: FLAGS, timeout: CALL_MS });
    return new TestBrowser(program, browser, site, await browser.newContext());
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#site.address() as AddressInfo).port}`;
  }

  /** Returns a context with its own storage, which is in memory as in a private window. */
  newContext(): Promise<BrowserContext> {
    return this.#browser.newContext();
  }

  /** Starts another browser, whose profile lies on the disk. Closing the context ends it. */
  startWithProfile(folder: string): Promise<BrowserContext> {
    return chromium.launchPersistentContext(folder, { executablePath: this.#program, args: FLAGS, timeout: CALL_MS });
  }

  /** Opens a tab. All tabs of a context share one IndexedDB. */
  async newTab(context = this.context): Promise<Page> {
    const page = await context.newPage();
    page.setDefaultTimeout(CALL_MS);
    const problems: Error[] = [];
    page.on('pageerror', (error) => problems.push(error));
    await page.goto(this.origin);
    if (problems[0] !== undefined) throw problems[0];
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    this.#site.closeAllConnections();
    await new Promise((resolve) => this.#site.close(resolve));
  }
}
