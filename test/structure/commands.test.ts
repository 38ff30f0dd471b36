import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { filesInGit, packageNames, root } from './sources.js';

interface Campaign {
  readonly name: string;
  readonly proves: string;
  readonly minutes?: number;
  run(options: { share: number; seed?: string; rest: readonly string[] }): {
    readonly command: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  };
}

const { campaigns } = (await import(pathToFileURL(join(root, '.ci', 'campaigns.mjs')).href)) as {
  readonly campaigns: readonly Campaign[];
};
const files = filesInGit();
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Runs a script of package.json and returns what it prints. */
function script(file: string, ...args: readonly string[]): { output: string; code: number | null } {
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(root, '.ci', file), ...args], {
    encoding: 'utf8',
  });
  return { output: stdout + stderr, code: status };
}

describe('the README', () => {
  it('runs a program in a folder that finds the packages, after the installation with the pinned pnpm', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const [, folder = ''] = /cd (\S+) && node .*--import tsx program\.ts/.exec(readme) ?? [];
    expect(existsSync(join(root, folder, 'node_modules', 'scratchfs')), `folder: ${folder}`).toBe(true);
    expect(readme).toContain(`npx ${manifest.packageManager} install`);
  });
});

describe('npm run campaign', () => {
  it('lists every campaign with what it proves and how long it takes', () => {
    const { output, code } = script('campaign.mjs');
    expect(code).toBe(0);
    for (const { name, proves, minutes } of campaigns)
      expect(output).toMatch(
        new RegExp(`^  ${name} +${minutes ?? '\\?'} min  ${proves.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`, 'm'),
      );
  });

  it('refuses an unknown name, a share that is not a number and a seed that is not whole', () => {
    expect(script('campaign.mjs', 'nonsense')).toEqual({ output: expect.stringContaining('No campaign'), code: 1 });
    expect(script('campaign.mjs', 'paths', 'x')).toEqual({ output: expect.stringContaining('share'), code: 1 });
    expect(script('campaign.mjs', 'paths', '1', '0.5')).toEqual({ output: expect.stringContaining('seed'), code: 1 });
  });

  it.each(campaigns.map((campaign) => [campaign.name, campaign] as const))(
    '%s names files that exist',
    (_, { run }) => {
      const { command } = run({ share: 0.5, seed: '3', rest: [] });
      for (const part of command.filter((argument) => argument.includes('/') && !argument.startsWith('--'))) {
        const isPrefix = files.some((file) => file.startsWith(part));
        expect(isPrefix, part).toBe(true);
      }
    },
  );

  it('passes a share and a first seed on', () => {
    const limits = campaigns.find(({ name }) => name === 'redis/limits');
    expect(limits?.run({ share: 0.1, seed: '7', rest: [] }).command.slice(-3)).toEqual(['limits', '0.1', '7']);
    const paths = campaigns.find(({ name }) => name === 'memory/paths');
    expect(paths?.run({ share: 0.1, seed: '7', rest: [] }).env).toEqual({ PATHS: '100000', PATHS_SEED: '7' });
  });
});

describe('the scripts of package.json', () => {
  it('are the ones that AGENTS.md lists', () => {
    const agents = readFileSync(join(root, 'AGENTS.md'), 'utf8');
    for (const name of Object.keys(manifest.scripts))
      expect(agents, name).toMatch(new RegExp(`\`(npm (run )?|pnpm )${name}\\b`));
  });
});

describe('the README of', () => {
  it.each(packageNames)('%s has no link that breaks on the page of a registry', (name) => {
    const page = readFileSync(join(root, 'packages', name, 'README.md'), 'utf8');
    const targets = [...page.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);
    expect(targets.filter((target) => !/^(https:|#)/.test(target ?? ''))).toEqual([]);
  });
});

describe('changesets', () => {
  it('version all packages together', () => {
    const { fixed } = JSON.parse(readFileSync(join(root, '.changeset', 'config.json'), 'utf8'));
    const names = packageNames.map(
      (name) => JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')).name,
    );
    expect([...fixed[0]].sort()).toEqual(names.sort());
  });

  it.each(packageNames)('%s has a changelog that is published, and keywords', (name) => {
    const folder = join(root, 'packages', name);
    const { files, keywords, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect(files).toContain('CHANGELOG.md');
    expect(keywords.length).toBeGreaterThan(4);
    expect(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')).toContain(`## ${version}`);
  });
});
