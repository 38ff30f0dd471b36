import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { HostName } from './arguments.js';
import { install } from './install.js';

// From the hosts' manuals. Claude Code 2 and Codex list a server from such a file; the other three were not run.
const FILES: Readonly<Record<HostName, string>> = {
  claude: 'project/.mcp.json',
  codex: 'codex/config.toml',
  cursor: 'project/.cursor/mcp.json',
  vscode: 'project/.vscode/mcp.json',
  zed: 'config/zed/settings.json',
};
const HOSTS = Object.keys(FILES) as HostName[];

const FILLED: Readonly<Record<HostName, string>> = {
  claude: '{\n  "mcpServers": {\n    "other": { "command": "x" }\n  }\n}\n',
  codex: 'model = "m"\n\n[mcp_servers.other]\ncommand = "x"\n',
  cursor: '{"mcpServers":{"other":{"command":"x"}}}',
  vscode: '{\n\t"servers": { "other": { "command": "x" } },\n\t"inputs": []\n}\n',
  zed: '{\n  "theme": "One",\n  "context_servers": { "other": { "command": "x", "args": [] } }\n}\n',
};

let top: string;
let directory: string;
let printed: string;

beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'scratchfs-install-')));
  directory = join(top, 'project');
  mkdirSync(directory);
  printed = '';
  vi.stubEnv('CODEX_HOME', join(top, 'codex'));
  vi.stubEnv('XDG_CONFIG_HOME', join(top, 'config'));
  vi.stubEnv('SCRATCHFS_MCP_SCRIPT', '/opt/scratchfs/mcp.mjs');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(top, { recursive: true });
});

const put = (path: string, text: string): void => {
  mkdirSync(dirname(join(top, path)), { recursive: true });
  writeFileSync(join(top, path), text);
};
const get = (path: string): string => readFileSync(join(top, path), 'utf8');
const run = (host: HostName, more: Partial<Parameters<typeof install>[0]> = {}) =>
  install({
    host,
    directory,
    isPrint: false,
    rest: ['--allow-run'],
    confirm: async () => true,
    print: (text) => {
      printed += `${text}\n`;
    },
    ...more,
  });

it('writes where the README says, under the name that it says, and the README names each host', async () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  for (const host of HOSTS) expect(readme).toContain(`\`${host}\``);
  const [, table = ''] = readme.split(
    '| host | configuration | then | the agent has the tools when |\n|---|---|---|---|\n',
  );
  const rows = (table.split('\n\n')[0] ?? '').split('\n');
  expect(rows.map((row) => /^\| ([^|]*) \|/.exec(row)?.[1])).toEqual([
    'Claude Code',
    'Codex',
    'Cursor',
    'VS Code',
    'Zed',
  ]);
  const places: Readonly<Record<string, string>> = { '~/.codex': join(top, 'codex'), '~/.config': join(top, 'config') };
  for (const [i, row] of rows.entries()) {
    const host = HOSTS[i] as HostName;
    const [, written = ''] = /`([^`]*)`/.exec(row) ?? [];
    const place = Object.keys(places).find((one) => written.startsWith(one));
    const path = place === undefined ? join(directory, written) : written.replace(place, places[place] as string);
    expect(path).toBe(join(top, FILES[host]));
    printed = '';
    expect(await run(host, { isPrint: true })).toBe(0);
    const [, name = ''] = /mcp_servers\.(.*)\]|"(scratchfs[^"]*)": \{/.exec(printed)?.filter(Boolean) ?? [];
    expect(name).toBe(place === undefined ? 'scratchfs' : 'scratchfs-project');
    for (const [, said] of row.matchAll(/`(scratchfs[^`]*)`/g)) expect(said).toBe(name);
  }
});

describe.each(HOSTS)('install %s', (host) => {
  it('writes the absolute path, the directory and the options', async () => {
    expect(await run(host)).toBe(0);
    for (const word of [process.execPath, '/opt/scratchfs/mcp.mjs', directory, '--allow-run'])
      expect(get(FILES[host])).toContain(JSON.stringify(word));
  });

  it('keeps what the file has, and a copy of the file as it was', async () => {
    put(FILES[host], FILLED[host]);
    await run(host);
    expect(get(FILES[host])).toContain('other');
    expect(get(FILES[host])).toContain('/opt/scratchfs/mcp.mjs');
    const folder = dirname(FILES[host]);
    const backup = readdirSync(join(top, folder)).filter((name) => name.includes('before-scratchfs'));
    expect(backup.map((name) => get(join(folder, name)))).toEqual([FILLED[host]]);
    expect(readdirSync(join(top, folder)).filter((name) => !/before-scratchfs/.test(name))).toHaveLength(1);
  });

  it('shows the change before it asks, and writes nothing after a no', async () => {
    const confirm = async (): Promise<boolean> => {
      expect(printed).toContain('/opt/scratchfs/mcp.mjs');
      return false;
    };
    expect(await run(host, { confirm })).toBe(4);
    expect(() => get(FILES[host])).toThrow('ENOENT');
  });

  it('names the command of another program that it was called by', async () => {
    await run(host, { words: ['mcp'] });
    expect(get(FILES[host]).replace(/\s/g, '')).toContain('mcp.mjs","mcp",');
  });

  it('is done once', async () => {
    await run(host);
    const before = get(FILES[host]);
    await run(host, { confirm: () => Promise.reject(new Error('asked')) });
    expect(get(FILES[host])).toBe(before);
    expect(printed).toContain('already');
    await expect(run(host, { rest: [] })).rejects.toThrow('already, with other settings');
  });

  it('only prints with --print', async () => {
    let shown = '';
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((shown += String(text))));
    await run(host, { isPrint: true, confirm: () => Promise.reject(new Error('asked')) });
    vi.restoreAllMocks();
    expect(shown).toBe(`To be added to ${join(top, FILES[host])}:\n`);
    expect(printed).toContain('/opt/scratchfs/mcp.mjs');
    expect(() => get(FILES[host])).toThrow('ENOENT');
  });

  it('stops if the file changes while a person thinks', async () => {
    put(FILES[host], FILLED[host]);
    const confirm = async (): Promise<boolean> => {
      put(FILES[host], `${FILLED[host]}\n`);
      return true;
    };
    await expect(run(host, { confirm })).rejects.toThrow('has changed meanwhile');
    expect(get(FILES[host])).toBe(`${FILLED[host]}\n`);
  });
});

describe('install', () => {
  it.each<[HostName, string, string]>([
    ['claude', '{ // mine\n}', 'not plain JSON'],
    ['claude', '[]', 'not a JSON object'],
    ['claude', '{"mcpServers":[]}', 'not an object'],
    ['zed', '// Zed settings\n{}', 'not plain JSON'],
    ['codex', 'mcp_servers = { other = { command = "x" } }\n', 'not tables'],
    ['codex', 'mcp_servers.other.command = "x"\n', 'not tables'],
    ['codex', 'text = """\n"""\n', 'several lines'],
    ['codex', '[ "mcp_servers" . scratchfs-project ]\ncommand = "x"\n', 'already'],
  ])('refuses for %s what it does not understand: %j', async (host, text, message) => {
    put(FILES[host], text);
    await expect(run(host)).rejects.toThrow(message);
    await expect(run(host)).rejects.toThrow('To add by hand');
    expect(get(FILES[host])).toBe(text);
  });

  it('adds a server for codex beside one whose name begins with the same', async () => {
    put(FILES.codex, '[mcp_servers.scratchfs-project-two]\ncommand = "x"\n');
    await run('codex');
    expect(get(FILES.codex)).toContain('[mcp_servers.scratchfs-project]\n');
    expect(get(FILES.codex)).toContain('[mcp_servers.scratchfs-project-two]\n');
    put(FILES.codex, '[mcp_servers.scratchfs-project.env]\nA = "x"\n');
    await expect(run('codex')).rejects.toThrow('already');
  });

  it('follows no link that a repository holds', async () => {
    put('elsewhere/mcp.json', '{}');
    symlinkSync(join(top, 'elsewhere', 'mcp.json'), join(directory, '.mcp.json'));
    symlinkSync(join(top, 'elsewhere'), join(directory, '.cursor'));
    await expect(run('claude')).rejects.toThrow('is a link');
    await expect(run('cursor')).rejects.toThrow('leads out');
    expect(get('elsewhere/mcp.json')).toBe('{}');
  });
});
