import { describe, expect, it, vi } from 'vitest';
import { parseArguments, UsageError } from './arguments.js';
import { main } from './main.js';
import { USAGE } from './usage.js';

it('wrong usage names the command that prints the help, as the program was started', async () => {
  const argv = process.argv;
  let shown = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((shown += String(text))));
  for (const script of ['/usr/bin/scratchfs-mcp', import.meta.filename]) {
    process.argv = [process.execPath, script];
    expect(await main(['--nonsense'])).toBe(2);
  }
  process.argv = argv;
  vi.restoreAllMocks();
  const error = "scratchfs-mcp: Unknown option '--nonsense'\n";
  const full = `${process.execPath} ${import.meta.filename}`;
  expect(shown).toBe(`${error}See \`scratchfs-mcp --help\`.\n${error}See \`${full} --help\`.\n`);
});

it.each([
  ['--http 80', '--http'],
  ['--approve sometimes', 'accept, writes, all'],
  ['--network', '--allow-run'],
  ['--tools nonsense', 'There is no tool'],
  ['--profile filesystem --tools grep', 'There is no tool'],
])('install with %s fails before it prints anything', async (line, message) => {
  const written = { out: '', err: '' };
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => Boolean((written.out += String(text))));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((written.err += String(text))));
  expect(await main(['install', 'claude', '/tmp', '--print', ...line.split(' ')])).not.toBe(0);
  vi.restoreAllMocks();
  expect(written.err).toContain(message);
  expect(written.out).toBe('');
});

it('install checks the names of tools as the server of the profile does', async () => {
  let written = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => Boolean((written += String(text))));
  const options = ['--profile', 'filesystem', '--tools', 'read_text_file,undo'];
  expect(await main(['install', 'claude', '/tmp', '--print', ...options])).toBe(0);
  vi.restoreAllMocks();
  expect(written).toContain('--tools=read_text_file,undo');
});

describe('parseArguments()', () => {
  it('reads the options of a server', () => {
    const line =
      '/p --attempt calm-otter --read-only --deny a --deny b --allow-secrets .env.test --limit 200MB --approve all';
    const more =
      '--allow-run --network --profile claude --tools read_file,undo --store memory: --http 0 --allow-host h';
    expect(parseArguments(`${line} ${more}`.split(' '))).toEqual({
      command: 'serve',
      directories: ['/p'],
      attempt: 'calm-otter',
      workspace: {
        store: 'memory:',
        limits: { maxTotalSize: 200_000_000 },
      },
      server: {
        readOnly: true,
        approve: 'all',
        allowRun: true,
        network: true,
        deny: ['a', 'b'],
        allowSecrets: ['.env.test'],
        profile: 'claude',
        tools: ['read_file', 'undo'],
      },
      isFilesystem: false,
      http: { port: 0, tokenFile: undefined, allowedHosts: ['h'] },
    });
  });

  it('reads the other commands', () => {
    expect(parseArguments(['approve', '7', '/p'])).toEqual({
      command: 'approve',
      id: 7,
      directory: '/p',
      workspace: {},
    });
    expect(parseArguments(['deny', '7', '--store', 'memory:'])).toMatchObject({ workspace: { store: 'memory:' } });
    expect(parseArguments(['install', 'zed', '--print', '--allow-run', '--deny', 'x y'])).toEqual({
      command: 'install',
      host: 'zed',
      directory: undefined,
      isPrint: true,
      rest: ['--allow-run', '--deny=x y'],
    });
    expect(parseArguments(['install', 'zed', '--store', 'a', '--store=memory:'])).toMatchObject({
      rest: [`--store=${process.cwd()}/a`, '--store=memory:'],
    });
    expect(parseArguments(['/a', '/b', '--profile', 'filesystem'])).toMatchObject({
      directories: ['/a', '/b'],
      isFilesystem: true,
      server: { live: true },
    });
    expect(parseArguments(['--live'])).toMatchObject({ server: { live: true } });
    expect(parseArguments(['-h'])).toEqual({ command: 'help' });
  });

  it.each([
    ['--nonsense', /^Unknown option '--nonsense'$/],
    ['--store --http 1', /^Option '--store' argument is ambiguous\.?$/],
    ['instal claude x', 'Did you mean install?'],
    ['--limit 200MiB', '--limit'],
    ['--limit -1', '--limit'],
    ['--approve sometimes', 'accept, writes, all'],
    ['--profile x', 'scratchfs, claude, filesystem'],
    ['--profile filesystem --http 1', '--http is not for'],
    ['--profile filesystem --approve all', '--approve is not for'],
    ['--network', '--allow-run'],
    ['--http 99999', 'port'],
    ['--token-file x', '--http'],
    ['/a /b', 'one directory'],
    ['approve', 'number'],
    ['approve x', 'number'],
    ['approve 1 /a /b', '/b'],
    ['install emacs', 'claude, codex'],
    ['--print', 'install'],
  ])('refuses %s', (line, message) => {
    expect(() => parseArguments(line.split(' '))).toThrow(UsageError);
    expect(() => parseArguments(line.split(' '))).toThrow(message);
  });

  it('has an explanation of each option, which fits a screen', () => {
    expect(USAGE.split('\n').length).toBeLessThanOrEqual(32);
    expect(Math.max(...USAGE.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
  });
});
