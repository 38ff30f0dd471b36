import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { keepCompiledCode } from './compile-cache.js';

it('compiled code is kept only in a directory that no other user can write', () => {
  const cache = mkdtempSync(join(tmpdir(), 'compiled-'));
  const enabled: string[] = [];
  vi.stubEnv('XDG_CACHE_HOME', cache);
  const { enableCompileCache } = module as { enableCompileCache?: unknown };
  Object.assign(module, { enableCompileCache: (directory: string) => enabled.push(directory) });
  onTestFinished(() => {
    Object.assign(module, { enableCompileCache });
    vi.unstubAllEnvs();
    rmSync(cache, { recursive: true });
  });
  const directory = join(cache, 'scratchfs', 'compiled');
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o777);
  keepCompiledCode();
  expect(enabled).toEqual([]);
  rmSync(directory, { recursive: true });
  keepCompiledCode();
  expect([enabled, existsSync(directory)]).toEqual([[directory], true]);
});
