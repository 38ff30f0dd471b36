import type { FileSystem } from '@scratchfs/core';
import { compileGlob, glob, grep } from '@scratchfs/core/search';
import {
  apply,
  applySync,
  errorName,
  type ModelEntry,
  type ModelFileSystem,
  type Outcome,
  type Random,
  type Step,
} from '@scratchfs/testkit';

/** A step of a client in a history: one of the testkit, or a search. */
export type HistoryStep =
  | Step
  | { readonly op: 'glob'; readonly args: { readonly pattern: string } }
  /** Finds every line under a path. */
  | { readonly op: 'grep'; readonly args: { readonly path: string } };

export async function play(fs: FileSystem, step: HistoryStep): Promise<Outcome> {
  if (step.op !== 'glob' && step.op !== 'grep') return apply(fs, step, new Map());
  try {
    const found: unknown[] = [];
    if (step.op === 'glob') for await (const path of glob(fs, step.args.pattern)) found.push(path);
    else
      for await (const { path, text } of grep(fs, EVERY_LINE, { paths: step.args.path, maxLineLength: 2 ** 20 }))
        found.push([path, text]);
    return { value: found };
  } catch (error) {
    return { error: errorName(error) };
  }
}

export function playOnModel(model: ModelFileSystem, step: HistoryStep): Outcome {
  if (step.op !== 'glob' && step.op !== 'grep') return applySync(model, step, new Map());
  try {
    return { value: step.op === 'glob' ? globModel(model, step.args.pattern) : grepModel(model, step.args.path) };
  } catch (error) {
    return { error: errorName(error) };
  }
}

const EVERY_LINE = { find: () => [{ start: 0, end: 0 }] };

function globModel(model: ModelFileSystem, pattern: string): string[] {
  const compiled = compileGlob(pattern.replace(/^\//, ''));
  const found = model.walk('/').filter(({ path, kind }) => compiled.matches(path.slice(1), kind === 'directory'));
  return found.map(({ path }) => path);
}

function grepModel(model: ModelFileSystem, path: string): [string, string][] {
  const info = model.getEntry(path);
  const files: readonly ModelEntry[] = info.kind === 'directory' ? model.walk(path) : [info];
  return files
    .filter(({ kind }) => kind === 'file')
    .flatMap((file) => model.readLines(file.path).map((line): [string, string] => [file.path, line]));
}

const DIRECTORIES = ['/a', '/b', '/a/c'];
const NAMES = ['x', 'y', 'z', 'c'];

export async function plant(fs: FileSystem): Promise<void> {
  await fs.mkdir('/a/c', { recursive: true });
  await fs.mkdir('/b');
  await fs.writeFile('/log', '');
}
export function plantModel(model: ModelFileSystem): void {
  model.mkdir('/a/c', { recursive: true });
  model.mkdir('/b');
  model.writeFile('/log', '');
}

/** Picks from few names, so that clients conflict; each value is written once in a history. */
export function randomStep(random: Random, value: string): HistoryStep {
  const path = (): string => (random.chance(0.2) ? '/log' : `${random.pick(DIRECTORIES)}/${random.pick(NAMES)}`);
  const both = { mode: 0o644 } as const;
  switch (random.below(18)) {
    case 0:
    case 1:
    case 2:
      return { op: 'appendFile', args: { path: '/log', data: `${value} ` } };
    case 3:
    case 4:
      return { op: 'writeFile', args: { path: path(), data: value, flag: 'w', ...both } };
    case 5:
      return { op: 'writeFile', args: { path: path(), data: value, flag: 'wx', ...both } };
    case 6:
      return { op: 'appendFile', args: { path: path(), data: `${value} ` } };
    case 7:
      return { op: 'rename', args: { from: path(), to: path() } };
    case 8:
      return { op: 'rename', args: { from: random.pick(['/a/c', '/b']), to: random.pick(['/a/c', '/b', '/b/c']) } };
    case 9:
      return { op: 'unlink', args: { path: path() } };
    case 10:
      return {
        op: 'mkdir',
        args: { path: random.pick(['/a/c', '/b', '/b/c']), recursive: random.chance(0.5), mode: 0o755 },
      };
    case 11:
      return random.chance(0.5)
        ? { op: 'rmdir', args: { path: random.pick(['/a/c', '/b', '/b/c']) } }
        : { op: 'rm', args: { path: random.pick(['/a/c', '/b']), recursive: true, force: random.chance(0.5) } };
    case 12:
      return { op: 'cp', args: { from: path(), to: path(), recursive: true, force: true, errorOnExist: false } };
    case 13:
      return { op: 'readdir', args: { path: random.pick([...DIRECTORIES, '/']) } };
    case 14:
      return { op: 'walk', args: { path: random.pick(['/', '/a', '/b']) } };
    case 15:
      return { op: 'glob', args: { pattern: random.pick(['**/x', 'a/**', '{a,b}/*', 'b/c/**']) } };
    case 16:
      return { op: 'grep', args: { path: random.pick(['/', '/a', '/b', '/log']) } };
    default:
      return { op: 'readFile', args: { path: path() } };
  }
}
