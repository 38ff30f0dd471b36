import type { SyncFileSystem } from 'scratchfs';

/** The agent's task: rename an exported function. */
export interface Task {
  readonly declaredIn: string;
  /** Start of the declaration: `function name(` or `function name<`. */
  readonly declaration: string;
  readonly oldName: string;
  readonly newName: string;
  /** Files that import the function by its name. */
  readonly usedIn: readonly string[];
}

const MAX_READ = 3000;
const MAX_FILE_SIZE = 200_000;
const MAX_REACHED = 60;
const MAX_USERS = 8;

/** Verbs with a synonym. */
const OTHER_VERBS: Readonly<Record<string, string>> = {
  add: 'append',
  build: 'assemble',
  check: 'verify',
  compile: 'translate',
  create: 'make',
  find: 'locate',
  format: 'render',
  get: 'take',
  is: 'looks',
  join: 'combine',
  list: 'enumerate',
  load: 'fetch',
  make: 'create',
  normalize: 'canonicalize',
  parse: 'decode',
  print: 'show',
  read: 'load',
  remove: 'drop',
  render: 'draw',
  resolve: 'settle',
  run: 'perform',
  to: 'into',
  write: 'store',
};

interface Module {
  readonly exported: readonly string[];
  readonly imports: readonly { readonly names: readonly string[]; readonly from: string }[];
}

/**
 * Finds an exported function that several files import, in a part of the tree small enough to be checked repeatedly.
 * The same tree gives the same task.
 */
export function chooseTask(fs: SyncFileSystem, paths: readonly string[]): Task | undefined {
  const modules = new Map<string, Module>();
  for (const path of paths.slice(0, MAX_READ)) {
    if (fs.statSync(path).size <= MAX_FILE_SIZE) modules.set(path, scan(fs, path));
  }
  const users = new Map<string, string[]>();
  for (const [path, { imports }] of modules) {
    for (const { names, from } of imports) {
      for (const name of names) {
        if (!modules.get(from)?.exported.includes(name)) continue;
        const key = `${from}\0${name}`;
        users.set(key, [...(users.get(key) ?? []), path]);
      }
    }
  }
  const candidates = [...users]
    .map(([key, usedIn]) => ({
      declaredIn: key.split('\0')[0] as string,
      oldName: key.split('\0')[1] as string,
      usedIn: [...new Set(usedIn)],
    }))
    .filter(({ usedIn }) => usedIn.length >= 2 && usedIn.length <= MAX_USERS)
    .sort((a, b) => rank(b) - rank(a) || compare(a.declaredIn + a.oldName, b.declaredIn + b.oldName));
  const chosen = candidates.find(({ declaredIn, usedIn }) => reach(modules, [declaredIn, ...usedIn]) <= MAX_REACHED);
  if (chosen === undefined) return undefined;
  const opening = fs.readTextSync(chosen.declaredIn).includes(`function ${chosen.oldName}(`) ? '(' : '<';
  return { ...chosen, declaration: `function ${chosen.oldName}${opening}`, newName: rename(chosen.oldName) };
}

function rank({ oldName, usedIn }: { oldName: string; usedIn: readonly string[] }): number {
  return usedIn.length + (verbOf(oldName) in OTHER_VERBS ? MAX_USERS : 0);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function verbOf(name: string): string {
  return /^[a-z]+/.exec(name)?.[0] ?? '';
}

function rename(name: string): string {
  const verb = verbOf(name);
  const other = Object.hasOwn(OTHER_VERBS, verb) ? OTHER_VERBS[verb] : undefined;
  return other === undefined ? `renamed${name[0]?.toUpperCase()}${name.slice(1)}` : other + name.slice(verb.length);
}

const EXPORTED = /^export (?:async )?function ([a-z]+[A-Z][A-Za-z0-9]+)[(<]/gm;
const IMPORT = /^(?:import|export)\s+(?:type\s+)?(?:\*[^'"\n]*|\{([^{}]*)\})\s+from\s+['"](\.[^'"\n]*)['"]/gm;

/** Returns a module's exports and imports in their usual notations: enough to find a task, not to check it. */
function scan(fs: SyncFileSystem, path: string): Module {
  const text = fs.readTextSync(path);
  const exported = [...text.matchAll(EXPORTED)].map((match) => match[1] as string);
  const imports = [...text.matchAll(IMPORT)].flatMap((match) => {
    const from = locate(fs, path, match[2] as string);
    const names = (match[1] ?? '').split(',').map((name) => name.trim());
    return from === undefined ? [] : [{ names: match[0].startsWith('import') ? names : [], from }];
  });
  return { exported, imports };
}

/** Returns the file of a relative import. */
function locate(fs: SyncFileSystem, importer: string, specifier: string): string | undefined {
  const target = `${importer.slice(0, importer.lastIndexOf('/'))}/${specifier}`;
  const stem = target.replace(/\.(js|ts)x?$/, '');
  const found = [`${stem}.ts`, `${stem}.tsx`, `${target}.ts`, `${target}.tsx`, `${target}/index.ts`].find((each) =>
    fs.isFileSync(each),
  );
  return found && fs.realpathSync(found);
}

/** Counts the files that the compiler reaches from these, up to a limit. */
function reach(modules: ReadonlyMap<string, Module>, start: readonly string[]): number {
  const reached = new Set(start);
  for (const path of reached) {
    if (reached.size > MAX_REACHED) break;
    for (const { from } of modules.get(path)?.imports ?? []) reached.add(from);
  }
  return reached.size;
}
