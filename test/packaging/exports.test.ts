import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { filterProblems } from '@arethetypeswrong/core/problems';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const execute = promisify(execFile);

/** Runs a program. On failure its output is the error's message. */
async function run(file: string, args: readonly string[], cwd?: string): Promise<string> {
  try {
    return (await execute(file, [...args], { cwd })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${file.split('/').at(-1)} failed:\n${stdout ?? ''}${stderr ?? ''}`, { cause: error });
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url));
// Outside the repository, so that no installation of ours is found by accident.
const scratch = mkdtempSync(join(tmpdir(), 'scratchfs-packed-'));
const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const packages = readdirSync(join(root, 'packages')).map((folder) => {
  const manifest = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'));
  return { folder, manifest, name: manifest.name as string };
});

beforeAll(async () => {
  // In one call: starting pnpm costs more than its work.
  const args = ['--yes', packageManager, 'pack', '--recursive', '--filter', './packages/*', '--pack-destination'];
  await run('npx', [...args, scratch], root);
  for (const { folder, name } of packages) {
    mkdirSync(join(scratch, folder));
    await run('tar', ['-xzf', tarballOf(name), '-C', join(scratch, folder)]);
  }
});

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const tarballOf = (name: string) => {
  const prefix = `${name.replace('@', '').replace('/', '-')}-`;
  const file = readdirSync(scratch).find(
    (entry) => entry.startsWith(prefix) && /^\d.*\.tgz$/.test(entry.slice(prefix.length)),
  );
  if (file === undefined) throw new Error(`pnpm pack made no tarball of ${name}`);
  return join(scratch, file);
};
const each = packages.map((one) => [one.name, one] as const);

describe('the tarball of', () => {
  it.each(each)('%s satisfies publint', async (_, { folder }) => {
    const pkgDir = join(scratch, folder, 'package');
    const { messages, pkg } = await publint({ pkgDir, strict: true, pack: false });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  it.each(each)('%s has correct types', async (name) => {
    const analysis = await checkPackage(createPackageFromTarballData(readFileSync(tarballOf(name))));
    if (analysis.types === false) throw new Error(`${name} has no types`);
    // There is no CommonJS, and nothing for resolvers without `exports`.
    const modes = ['node16-esm', 'bundler'] as const;
    expect(modes.flatMap((resolutionKind) => filterProblems(analysis, { resolutionKind }))).toEqual([]);
  });

  it.each(each)('%s has declarations that import only what it depends on', (_, { folder, manifest }) => {
    const dist = join(scratch, folder, 'package', 'dist');
    const { name, dependencies, peerDependencies } = manifest;
    const known = [name, ...Object.keys({ ...dependencies, ...peerDependencies })];
    const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.d.ts'));
    const unknown = files.flatMap((file) => {
      const code = readFileSync(join(dist, file), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
      return Array.from(
        code.matchAll(/(?:from |import\()["']((?:@[^"'/]+\/)?[^"'/.][^"'/]*)/g),
        ([, imported]) => imported,
      )
        .filter((imported) => imported !== undefined && !imported.startsWith('node:') && !known.includes(imported))
        .map((imported) => `${file}: ${imported}`);
    });
    expect(unknown).toEqual([]);
  });

  it.each(each)('%s holds only built files, a README, a changelog and the licence', async (_, { folder, manifest }) => {
    const packed = join(scratch, folder, 'package');
    const files = readdirSync(packed, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(packed, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
    for (const file of ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']) expect(files).toContain(file);
    const bundle = folder === 'cli' ? ['dist/program.cjs', 'dist/program.notices.txt'] : [];
    const others = files.filter(
      (file) =>
        !bundle.includes(file) && !/^(CHANGELOG\.md|LICENSE|README\.md|package\.json|dist\/.+\.(js|d\.ts))$/.test(file),
    );
    expect(others).toEqual([]);
    const published = JSON.parse(readFileSync(join(packed, 'package.json'), 'utf8'));
    expect(JSON.stringify(published.exports)).not.toContain('@scratchfs/source');
    for (const version of Object.values(published.dependencies ?? {})) expect(version).toMatch(/^\d/);
    for (const [name, range] of Object.entries(published.peerDependencies ?? {}))
      expect(range, name).not.toMatch(/^workspace:/);
    expect(Object.keys(published.exports)).toEqual(Object.keys(manifest.exports));
  });
});

describe('a user who installs the tarballs', () => {
  it('can import every entry point in plain Node', async () => {
    const home = join(scratch, 'stranger');
    const modules = join(home, 'node_modules');
    for (const { folder, manifest, name } of packages) {
      cpSync(join(scratch, folder, 'package'), join(modules, name), { recursive: true });
      const require = createRequire(join(root, 'packages', folder, 'package.json'));
      for (const dependency of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
        if (packages.some((other) => other.name === dependency)) continue;
        symlink(findPackage(require, dependency), join(modules, dependency));
      }
    }
    const entries = packages.flatMap(({ name, manifest }) =>
      Object.keys(manifest.exports)
        .filter((key) => key !== './package.json')
        .map((key) => name + key.slice(1)),
    );
    const lines = entries.map(
      (entry) => `if (Object.keys(await import('${entry}')).length === 0) throw new Error('${entry} is empty');`,
    );
    writeFileSync(join(home, 'main.mjs'), lines.join('\n'));
    await run(process.execPath, [join(home, 'main.mjs')], home);
    expect(entries.length).toBeGreaterThan(packages.length);
  });

  it('can start the command line', async () => {
    const home = join(scratch, 'stranger');
    const { bin, version } = JSON.parse(readFileSync(join(home, 'node_modules/@scratchfs/cli/package.json'), 'utf8'));
    const scratchfs = (...args: readonly string[]): Promise<string> =>
      run(process.execPath, [join(home, 'node_modules/@scratchfs/cli', bin.scratchfs), ...args], home);
    expect(await scratchfs('--version')).toBe(`${version}\n`);
    await scratchfs('fs', 'write', 'a.txt', 'text', '--store', 'files.snapshot');
    expect(await scratchfs('fs', 'cat', 'a.txt', '--store', 'files.snapshot')).toBe('text');
    expect(await scratchfs('attempts', '--store', '../attempts')).toBe('No attempts.\n');
  });

  it('gets from what an agent has done to an accepted change with the commands of the README', async () => {
    const home = join(scratch, 'stranger');
    const project = realpathSync(mkdtempSync(join(scratch, 'project-')));
    const env = {
      PATH: `${join(project, '..', 'bin')}:${process.env['PATH']}`,
      HOME: home,
      XDG_STATE_HOME: `${project}-state`,
    };
    const shell = async (line: string): Promise<string> =>
      (await execute('bash', ['-c', `set -e -o pipefail; ${line}`], { cwd: project, env })).stdout;
    const bin = join(home, 'node_modules/@scratchfs/cli/dist/bin.js');
    mkdirSync(join(project, '..', 'bin'));
    writeFileSync(join(project, '..', 'bin', 'scratchfs'), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`, {
      mode: 0o755,
    });
    mkdirSync(join(project, 'src'));
    writeFileSync(join(project, 'src', 'a.ts'), 'export const a = 1;\n');
    // A file that has just changed is compared by content.
    utimesSync(join(project, 'src', 'a.ts'), 1_000, 1_000);
    await shell('git init -q');
    // Each write is an operation.
    const agent = `import { openWorkspace } from '@scratchfs/workspace';
      const workspace = await openWorkspace(process.argv[2]);
      const { fileSystem } = await workspace.attempt();
      for (let i = 2; i <= 14; i++) await fileSystem.writeFile('/src/a.ts', 'export const a = ' + i + ';\\n');
      await workspace.close();`;
    writeFileSync(join(home, 'agent.mjs'), agent);
    await execute(process.execPath, [join(home, 'agent.mjs'), project], { env });

    const readme = readFileSync(join(home, 'node_modules/@scratchfs/cli/README.md'), 'utf8');
    const commandsOf = (title: string): string[] => {
      const section = readme.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
      return [...section.matchAll(/^ {4}(scratchfs .*?) *(?:#.*)?$/gm)].map(([, line]) => line as string);
    };
    const onDisk = (): string => readFileSync(join(project, 'src', 'a.ts'), 'utf8');
    // A screen needs a terminal.
    const lines = [...commandsOf('What an agent did'), ...commandsOf('Take it back')].filter(
      (line) => !line.endsWith('rewind'),
    );
    expect(lines).toHaveLength(7);
    for (const line of lines) expect((await shell(line)).length, line).toBeGreaterThan(0);
    expect(onDisk()).toBe('export const a = 1;\n');
    // Neither command needs what writes to the disk.
    const list =
      "import { writeSync } from 'node:fs'; export async function load(url, context, next) { writeSync(2, url + '\\n'); return next(url, context); }";
    // A URL may contain ', but no ".
    const hook = `import { register } from 'node:module'; register("data:text/javascript,${encodeURIComponent(list)}");`;
    const hooked = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`];
    const start = join(home, 'start.mjs');
    const code = `import { Interrupts, main } from '@scratchfs/cli';
      const { argv, env, stdin, stdout, stderr } = process;
      await main(argv.slice(2), { stdin, stdout, stderr, environment: env, directory: process.cwd(), interrupts: new Interrupts() });`;
    writeFileSync(start, code);
    for (const command of ['status', 'log']) {
      const loadedBy = async (program: string): Promise<string[]> => {
        const { stderr } = await execute(process.execPath, [...hooked, program, command], { cwd: project, env });
        return stderr.split('\n').filter((url) => url.startsWith('file:'));
      };
      // The program is one file, which is not loaded as a module.
      expect((await loadedBy(bin)).filter((url) => !url.includes('/cli/dist/'))).toEqual([]);
      const loaded = await loadedBy(start);
      expect(loaded.some((url) => url.includes('/workspace/dist/index.js'))).toBe(true);
      const large =
        /\/(history|host|sandbox|mcp)\/dist\/index\.js|host\/dist\/internal\.js|core\/dist\/(snapshot|layers|search)\.js|msgpackr|fflate|clack/;
      expect(loaded.filter((url) => large.test(url))).toEqual([]);
    }
    expect(commandsOf('Accept')).toEqual(expect.arrayContaining(['scratchfs accept', 'scratchfs undo']));
    await shell('scratchfs accept');
    expect(onDisk()).toBe('export const a = 13;\n');
    // Without a terminal, an undo that changes the disk needs a yes.
    await shell('scratchfs undo --yes');
    expect(onDisk()).toBe('export const a = 1;\n');
  });

  it('is told which package to install if a URL needs it', async () => {
    const home = join(scratch, 'without-redis');
    const modules = join(home, 'node_modules');
    for (const { folder, name } of packages.filter((one) => ['scratchfs', 'core', 'memory'].includes(one.folder)))
      cpSync(join(scratch, folder, 'package'), join(modules, name), { recursive: true });
    const code = `import { createFileSystem } from 'scratchfs';
      await createFileSystem({ storage: 'redis://user:secret@localhost' }).catch((error) => console.log(error.kind, error.message));`;
    writeFileSync(join(home, 'main.mjs'), code);
    expect(await run(process.execPath, [join(home, 'main.mjs')], home)).toBe(
      'unsupported A storage at redis:// needs a package: npm install @scratchfs/redis ioredis\n',
    );
  });
});

function findPackage(require: NodeJS.Require, name: string): string {
  for (const folder of require.resolve.paths(name) ?? []) {
    const path = join(folder, name);
    try {
      return realpathSync(path);
    } catch {}
  }
  throw new Error(`${name} is not installed`);
}

function symlink(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  rmSync(to, { force: true });
  symlinkSync(from, to, 'dir');
}
