import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { AzuriteServer } from '../azure/azurite-server.js';
import { findRedis } from '../redis/servers/find-redis.js';
import { RedisServer } from '../redis/servers/redis-server.js';
import { findPostgres, PostgresServer } from '../sql/servers/postgres-server.js';
import { fileCommandsSuite, project } from './file-commands.js';
import { folder, json, ok, run } from './program.js';

const mustRun = process.env['CI'] !== undefined;
const redis = findRedis() === undefined && !mustRun ? undefined : await RedisServer.start();
const postgres =
  findPostgres() === undefined && !mustRun ? undefined : await PostgresServer.start(findPostgres() ?? '');
afterAll(async () => {
  await redis?.stop();
  await postgres?.close();
});

fileCommandsSuite('a directory', () => join(folder('store'), 'new'));
fileCommandsSuite('a snapshot file', () => join(folder('store'), 'state.snapshot'));
fileCommandsSuite('a store on the disk', () => `file://${folder('store')}/files?name=main`);
fileCommandsSuite('SQLite', () => `sqlite:${folder('store')}/agents.db?name=main`);
fileCommandsSuite(
  'Redis',
  (name) => `${redis?.url}/0?namespace=${name}`,
  redis === undefined ? 'there is no redis-server' : undefined,
);
fileCommandsSuite(
  'PostgreSQL',
  (name) => `${postgres?.url}?name=${name}`,
  postgres === undefined ? 'there is no PostgreSQL' : undefined,
);

describe('a storage', () => {
  it('in DynamoDB is opened by its URL', async () => {
    const { code, stderr } = await run(['fs', 'ls', '--store', 'dynamodb://t']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('needs the name of a table')]);
  });

  it('in Azure Blob Storage is written, read and copied by its URL', async () => {
    const server = await AzuriteServer.start('--inMemoryPersistence');
    try {
      await server.createContainer('agents');
      const env = { AZURE_STORAGE_CONNECTION_STRING: server.connection };
      const store = ['--store', 'azure://agents/main'];
      expect((await run(['fs', 'ls', ...store], { env })).code).toBe(3);
      await ok(['fs', 'write', 'a', 'text', ...store], { env });
      expect(await ok(['fs', 'cat', 'a', ...store], { env })).toBe('text');
      const copy = join(folder('copy'), 'new');
      await ok(['copy', 'azure://agents/main', copy], { env });
      expect(readFileSync(join(copy, 'a'), 'utf8')).toBe('text');
      const { code, stderr } = await run(['fs', 'ls', ...store]);
      expect([code, stderr]).toEqual([4, expect.stringContaining('AZURE_STORAGE_CONNECTION_STRING')]);
    } finally {
      await server.stop();
    }
  });

  it('that is only read stays as it is', async () => {
    const path = folder('read');
    const store = join(path, 'a.snapshot');
    await ok(['fs', 'write', 'a', 'text', '--store', store]);
    const before = readFileSync(store);
    await ok(['fs', 'cat', 'a', '--store', store]);
    expect((await run(['fs', 'cat', 'a', '--store', `file://${path}/absent`])).code).toBe(3);
    expect((await run(['fs', 'cat', 'a', '--store', 'sqlite:./absent', '-C', path])).code).toBe(3);
    expect(existsSync(join(path, 'absent'))).toBe(false);
    expect(readFileSync(store).equals(before)).toBe(true);
  });

  it('gives a new directory with the mode and the time of its top', async () => {
    const cwd = folder('top');
    mkdirSync(join(cwd, 'd'), { mode: 0o750 });
    writeFileSync(join(cwd, 'd', 'f'), 'text');
    utimesSync(join(cwd, 'd'), 1_000, 2_000);
    await ok(['fs', 'get', 'd', 'new/copy', '--store', '.'], { cwd });
    const { mode, mtimeMs } = statSync(join(cwd, 'new', 'copy'));
    expect([(mode & 0o777).toString(8), mtimeMs]).toEqual(['750', 2_000_000]);
  });

  it('is copied over files of the disk only with --force, and over no file in place of a directory', async () => {
    const cwd = folder('over');
    mkdirSync(join(cwd, 'd'));
    writeFileSync(join(cwd, 'd', 'f'), 'store');
    const target = folder('target');
    writeFileSync(join(target, 'f'), 'mine');
    const get = (...args: readonly string[]) => run(['fs', 'get', ...args, '--store', 'd'], { cwd });
    expect(await get('/', target)).toMatchObject({ code: 5, stderr: expect.stringContaining(`${target} exists.`) });
    expect(readFileSync(join(target, 'f'), 'utf8')).toBe('mine');
    expect(await get('/', join(target, 'f'), '--force')).toMatchObject({
      code: 5,
      stderr: expect.stringContaining(`${join(target, 'f')} is not a directory.`),
    });
    expect((await get('/', target, '--force')).code).toBe(0);
    expect(readFileSync(join(target, 'f'), 'utf8')).toBe('store');
  });

  it('in SQLite is copied to, changed and copied back; paths of its URL are relative to -C', async () => {
    const path = folder('database');
    const store = ['--store', 'sqlite:./agents%201.db?name=main', '-C', path];
    await json('copy', [project(), store[1] as string, '-C', path]);
    expect(existsSync(join(path, 'agents 1.db'))).toBe(true);
    await ok(['fs', 'write', 'src/run.sh', 'echo bye\n', ...store]);
    await ok(['copy', store[1] as string, 'copy', '-C', path]);
    expect(readFileSync(join(path, 'copy', 'link'), 'utf8')).toBe('echo bye\n');
    expect((await run(['fs', 'ls', '--store', 'sqlite:./agents%201.db?name=absent', '-C', path])).code).toBe(3);
    expect((await run(['fs', 'ls', '--store', 'sqlite:a%', '-C', path])).code).toBe(2);
  });

  it('in a damaged file is reported and not replaced', async () => {
    const store = join(folder('damaged'), 'a.snapshot');
    writeFileSync(store, 'not a snapshot');
    const { code, stderr } = await run(['fs', 'write', 'a', 'text', '--store', store]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('is not an intact snapshot') });
    expect(readFileSync(store, 'utf8')).toBe('not a snapshot');
  });

  it('of an unknown scheme, and a server that is away, are reported with the next step', async () => {
    expect(await run(['fs', 'ls', '--store', 'ftp://host'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('scratchfs help stores'),
    });
    const { code, stderr } = await run(['fs', 'ls', '--store', 'redis://user:secret@127.0.0.1:1/0']);
    expect(code).toBe(1);
    expect(stderr).not.toContain('secret');
  });
});

describe('export git', () => {
  it("does not write into a person's own repository", async () => {
    const repository = folder('repository');
    execFileSync('git', ['init', '-q', repository]);
    expect((await json('export git', [repository, '--store', project()])).code).toBe(4);
  });

  it('says that a file is not a repository', async () => {
    const store = project();
    const result = await run(['export', 'git', join(store, 'README.md'), '--store', store]);
    expect(result).toMatchObject({ code: 4, stderr: expect.stringContaining('README.md is not a bare repository') });
  });
});
