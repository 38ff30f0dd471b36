import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROGRAM } from './bundle.js';
import { ENVIRONMENT, folder, json, ok, run } from './program.js';
import { repository } from './repository.js';

describe('the program', () => {
  it('ends quietly if the reader of its output ends first', async () => {
    const store = folder('many');
    for (let index = 0; index < 3_000; index++) writeFileSync(join(store, `${'a'.repeat(100)}${index}`), '');
    const child = spawn(
      '/bin/bash',
      ['-c', `set -o pipefail; "${process.execPath}" "${PROGRAM}" fs find --store "${store}" | head -n 1`],
      { env: ENVIRONMENT },
    );
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.stderr.on('data', (chunk) => (text += chunk));
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect({ code, text }).toEqual({ code: 0, text: `/${'a'.repeat(100)}0\n` });
  });

  it('ends quietly in every command whose output nobody reads to its end', async () => {
    const cwd = repository({ 'a.txt': 'line\n'.repeat(200_000) });
    const env = { XDG_STATE_HOME: folder('state') };
    await ok(['fs', 'put', '-', 'b.txt'], { cwd, env, input: 'text\n'.repeat(200_000) });
    const lines = ['fs cat a.txt', 'fs grep line', 'export tar -', 'diff', 'log -p'];
    const script = lines.map((line) => `"$NODE" "$PROGRAM" ${line} | head -c 1 > printed; echo "\${PIPESTATUS[@]}"`);
    const child = spawn('/bin/bash', ['-c', script.join('\n')], {
      cwd,
      env: { ...ENVIRONMENT, ...env, NODE: process.execPath, PROGRAM },
    });
    let [text, problems] = ['', ''];
    child.stdout.on('data', (chunk) => (text += chunk));
    child.stderr.on('data', (chunk) => (problems += chunk));
    await new Promise((resolve) => child.on('close', resolve));
    expect({ text, problems }).toEqual({ text: lines.map(() => '0 0\n').join(''), problems: '' });
  });

  it('prints names exactly in a pipe, as JSON, and with NUL', async () => {
    const store = folder('names');
    const name = 'a\n\u001b[31m\u202eb';
    writeFileSync(join(store, name), '');
    expect(await ok(['fs', 'ls', '--store', store])).toBe(`${name}\n`);
    expect(await ok(['fs', 'find', '-0', '--store', store])).toBe(`/${name}\0`);
    expect((await json('fs find', ['--store', store]))['paths']).toEqual([`/${name}`]);
  });

  it('escapes names in errors', async () => {
    const { code, stderr } = await run(['fs', 'cat', 'a\u001b[31m\u202e', '--store', folder()]);
    expect({ code, stderr }).toEqual({ code: 3, stderr: 'scratchfs: /a\\e[31m\\u202e does not exist.\n' });
  });

  it('uses colours only if it is told to, because a pipe is no terminal', async () => {
    const store = folder('colours');
    mkdirSync(join(store, 'directory'));
    const args = ['fs', 'ls', '--store', store];
    expect(await ok(args)).toBe('directory/\n');
    expect(await ok(args, { env: { FORCE_COLOR: '1' } })).toContain('\u001b[');
    expect(await ok(args, { env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).toBe('directory/\n');
  });

  it('reports wrong usage with a way on, also as JSON', async () => {
    expect(await run(['fs', 'ls', '--long=x'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--help') });
    expect(await json('fs ls', ['--lnog'])).toMatchObject({ code: 2, error: { hint: 'Did you mean --long?' } });
    expect(await run([])).toMatchObject({ code: 2, stdout: '' });
    expect((await run(['--help'])).code).toBe(0);
  });

  it('hands everything after mcp to the MCP server', async () => {
    const { code, stdout } = await run(['mcp', '--help']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('scratchfs-mcp') });
    const request = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    };
    const served = await run(['mcp'], { cwd: folder('served'), input: `${JSON.stringify(request)}\n` });
    expect(JSON.parse(served.stdout)).toMatchObject({ id: 1, result: { serverInfo: {} } });
  });

  it('prints one object for --json that has the shape which help shows', async () => {
    const cwd = repository();
    await ok(['fs', 'write', 'new.txt', 'new\n'], { cwd });
    const tree = await json('fs tree', ['src'], { cwd });
    expect(tree['entries']).toMatchObject([{ path: '/src/a.txt' }]);
    expect((await json('log', [], { cwd }))['operations']).toMatchObject([{ summary: 'Write /new.txt' }]);
    expect((await json('diff', [], { cwd }))['paths']).toMatchObject([{ path: '/new.txt', type: 'added' }]);
    const file = join(folder('snapshots'), 'a.snapshot');
    expect(await json('export snapshot', [file], { cwd })).toMatchObject({ code: 0, file });
    expect(await json('import snapshot', [file, '--to', 'all'], { cwd })).toMatchObject({
      code: 0,
      path: '/all',
      files: 3,
    });
    expect((await json('completion', ['fish']))['script']).toContain('complete -c scratchfs');
    expect(await json('rewind', [], { cwd })).toMatchObject({ code: 2, error: { code: 'usage' } });
  });

  it('describes every command as JSON', async () => {
    const { commands } = await json('help', []);
    expect(commands).toContainEqual(expect.objectContaining({ name: 'fs ls' }));
  });

  it('shows help in at most 100 ms more than Node needs to start on a quiet machine', () => {
    const timeOf = (...args: readonly string[]): number => {
      const started = performance.now();
      spawnSync(process.execPath, args, { env: ENVIRONMENT });
      return performance.now() - started;
    };
    let [bare, help] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    // On a busy machine both take longer, so the limit grows with the bare start, and the fastest of several count.
    const isSlow = (): boolean => !(help - bare < Math.max(100, 1.2 * bare));
    for (let start = 0; start < 7 || (start < 100 && isSlow()); start++) {
      bare = Math.min(bare, timeOf('-e', '0'));
      help = Math.min(help, timeOf(PROGRAM, '--help'));
    }
    expect(isSlow(), `${bare} ms and ${help} ms`).toBe(false);
  });
});
