import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mayImport, mayNameCore, needsNode, runEverywhere } from './rules.js';
import { filesInGit, packageNames, root, type Source, sources, target } from './sources.js';

const nameOf = (packageName: string) => (packageName === 'scratchfs' ? 'scratchfs' : `@scratchfs/${packageName}`);

function isAllowed(specifier: string, allowed: readonly string[]): boolean {
  return allowed.some((name) =>
    name.endsWith(':') ? specifier.startsWith(name) : specifier === name || specifier.startsWith(`${name}/`),
  );
}

function entryPoints(packageName: string): string[] {
  const manifest = JSON.parse(readFileSync(join(root, 'packages', packageName, 'package.json'), 'utf8'));
  return Object.keys(manifest.exports).map((key) => nameOf(packageName) + key.slice(1));
}

const toolsOf = (folder: string): string[] => {
  const { devDependencies = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  return Object.keys(devDependencies);
};
// Test files may use the workspace's tools, their package's and the suites; `?` is a module named at run time.
const testsMayImport = (packageName: string): string[] => [
  ...toolsOf('.'),
  ...toolsOf(join('packages', packageName)),
  '@scratchfs/testkit',
  'node:',
  '?',
];

const known = new Set(sources.map(({ path }) => path));
const published = new Set(packageNames.flatMap(entryPoints));

describe('imports', () => {
  it('have a rule for every package and no rule without one', () => {
    expect(Object.keys(mayImport).sort()).toEqual([...packageNames].sort());
  });

  it.each(packageNames)('of %s go down only', (packageName) => {
    const wrong: string[] = [];
    for (const source of sources.filter((one) => one.packageName === packageName)) {
      const isForNode = needsNode.some((folder) => source.path.startsWith(folder));
      const allowed = [
        ...(mayImport[packageName] ?? []),
        ...(source.isTest ? testsMayImport(packageName) : []),
        ...(isForNode ? ['node:'] : []),
      ];
      for (const { specifier } of source.imports) {
        if (specifier.startsWith('.') || isAllowed(specifier, allowed)) continue;
        wrong.push(
          `${source.path} imports ${specifier}; ${source.isTest ? 'its tests' : packageName} may import ${allowed.join(', ')}`,
        );
      }
    }
    expect(wrong).toEqual([]);
  });

  it('of examples name scratchfs, which re-exports core, unless they are for authors of adapters', () => {
    const pages = filesInGit().filter((path) => /^(README\.md$|examples\/|packages\/[^/]+\/README\.md$)/.test(path));
    const wrong = pages.filter(
      (path) =>
        /\.(ts|md)$/.test(path) &&
        !mayNameCore.some((folder) => path.startsWith(folder)) &&
        /from '@scratchfs\/core/.test(readFileSync(join(root, path), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  it('of a neighbour use its entry points, never its files', () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier }) => /^(@scratchfs\/|scratchfs(\/|$))/.test(specifier) && !published.has(specifier))
        .map(({ specifier }) => `${path} imports ${specifier}, which is no entry point`),
    );
    expect(wrong).toEqual([]);
  });

  it('of own files end in .js, lead to a file and stay in the package', () => {
    const wrong: string[] = [];
    for (const source of sources) {
      for (const { specifier } of source.imports) {
        if (!specifier.startsWith('.')) continue;
        const path = target(source, specifier);
        const inside = path.startsWith(`packages/${source.packageName}/src/`);
        if (!specifier.endsWith('.js') || !known.has(path) || !inside)
          wrong.push(`${source.path} imports ${specifier}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('never take a test file into what is published', () => {
    const wrong = sources.flatMap((source) =>
      source.isTest ? [] : source.imports.filter(({ specifier }) => specifier.includes('.test')).map(() => source.path),
    );
    expect(wrong).toEqual([]);
  });

  it('form no circle, type imports included', () => {
    expect(findCircle(sources.filter(({ isTest }) => !isTest))).toBeUndefined();
  });

  it('declared in package.json are the ones allowed', () => {
    for (const packageName of packageNames) {
      const manifest = JSON.parse(readFileSync(join(root, 'packages', packageName, 'package.json'), 'utf8'));
      expect(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).sort(), packageName).toEqual(
        (mayImport[packageName] ?? []).filter((name) => name !== '?').sort(),
      );
    }
  });

  it('of what runs everywhere name no Node module', () => {
    const wrong = sources
      .filter(({ packageName, isTest }) => !isTest && runEverywhere.includes(packageName))
      .flatMap(({ path, imports }) =>
        imports.filter(({ specifier }) => specifier.startsWith('node:') || specifier === '?').map(() => path),
      );
    expect(wrong).toEqual([]);
  });
});

/** Returns the first circle of imports, of values or of types, as a chain of paths. */
function findCircle(all: readonly Source[]): string | undefined {
  const byPath = new Map(all.map((source) => [source.path, source]));
  const done = new Set<string>();
  const visit = (path: string, chain: readonly string[]): string | undefined => {
    if (chain.includes(path)) return [...chain.slice(chain.indexOf(path)), path].join(' → ');
    const source = byPath.get(path);
    if (!source || done.has(path)) return undefined;
    for (const { specifier } of source.imports) {
      if (!specifier.startsWith('.')) continue;
      const circle = visit(target(source, specifier), [...chain, path]);
      if (circle) return circle;
    }
    done.add(path);
    return undefined;
  };
  for (const { path } of all) {
    const circle = visit(path, []);
    if (circle) return circle;
  }
  return undefined;
}
