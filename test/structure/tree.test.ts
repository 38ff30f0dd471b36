import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../packages/mcp/src/version.js';
import { topLevel } from './rules.js';
import { filesInGit, packageNames, root } from './sources.js';

const files = filesInGit();
const manifests = packageNames.map((name) =>
  JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')),
);

describe('the repository', () => {
  it('has at its top exactly what is listed', () => {
    const names = new Set(files.map((path) => path.split('/')[0] ?? '').filter((name) => !name.startsWith('.')));
    expect([...names].sort()).toEqual(topLevel);
  });

  it('names no path of a machine and no package registry', () => {
    const hosts = ['registry.', 'npmjs', 'www.npmjs', 'yarnpkg', 'npmmirror', 'artifactory', 'jfrog'].map(
      (part) => `//${part}`,
    );
    const wrong: string[] = [];
    for (const path of files) {
      const absolute = join(root, path);
      const stat = statSync(absolute, { throwIfNoEntry: false });
      if (!stat?.isFile() || stat.size > 4_000_000) continue;
      const text = readFileSync(absolute, 'latin1');
      for (const host of hosts)
        if (text.includes(host) && !path.endsWith('tree.test.ts')) wrong.push(`${path}: ${host}`);
      if (text.includes(root.replace(/\/$/, ''))) wrong.push(`${path}: the path of this checkout`);
    }
    expect(wrong).toEqual([]);
  });

  it('has file names in kebab-case', () => {
    const wrong = files
      .filter((path) => /^(packages|examples|test)\/.*\.(ts|mjs|js)$/.test(path) && !path.includes('/fixtures/'))
      .filter((path) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)+$/.test(path.split('/').at(-1) ?? ''));
    expect(wrong).toEqual([]);
  });
});

describe('every package', () => {
  it('has the same version', () => {
    expect(new Set([VERSION, ...manifests.map(({ version }) => version)]).size).toBe(1);
  });

  it.each(manifests.map((manifest) => [manifest.name, manifest]))('%s publishes built files only', (_, manifest) => {
    // Only these entry points do something when they are imported: every filesystem gets what is in them.
    const effects = ['encodings', 'function-files'].filter((name) => `./${name}` in manifest.exports);
    const modules = effects.flatMap((name) => [`./src/${name}.ts`, `./dist/${name}.js`]);
    expect(manifest.sideEffects).toEqual(modules.length > 0 ? modules : false);
    expect(manifest.type).toBe('module');
    for (const [key, conditions] of Object.entries<Record<string, string>>(manifest.exports)) {
      if (key === './package.json') continue;
      expect(Object.keys(conditions)).toEqual(['@scratchfs/source', 'types', 'default']);
      const { '@scratchfs/source': source, ...built } = conditions;
      expect(manifest.publishConfig.exports[key]).toEqual(built);
      const entry = /^\.\/src\/(.+)\.ts$/.exec(source ?? '')?.[1];
      expect(manifest.tsup.entry).toContain(`src/${entry}.ts`);
      expect(built).toEqual({ types: `./dist/${entry}.d.ts`, default: `./dist/${entry}.js` });
    }
    expect(Object.keys(manifest.publishConfig.exports)).toEqual(Object.keys(manifest.exports));
  });
});
