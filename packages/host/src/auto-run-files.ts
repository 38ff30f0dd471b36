/** Names, in lower case, of files that programs run or obey without being told to, in any directory. */
const FILES: ReadonlySet<string> = new Set([
  // Shells and version managers, on entering the directory.
  '.envrc',
  '.mise.toml',
  'mise.toml',
  '.tool-versions',
  // git and its hook managers, on commit, checkout and merge.
  '.gitattributes',
  '.gitmodules',
  '.pre-commit-config.yaml',
  'lefthook.yml',
  '.lefthook.yml',
  // Package managers and builds: scripts on installation, and settings that name programs.
  'package.json',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.pnpmfile.cjs',
  'pnpm-workspace.yaml',
  'bunfig.toml',
  'build.rs',
  'setup.py',
  'conftest.py',
  'sitecustomize.py',
  '.bazelrc',
  // Editors and debuggers, on opening the directory or a file in it.
  '.dir-locals.el',
  '.exrc',
  '.vimrc',
  '.nvimrc',
  '.nvim.lua',
  '.gdbinit',
  '.lldbinit',
  '.devcontainer.json',
  // Services, on push.
  '.gitlab-ci.yml',
  '.travis.yml',
  'azure-pipelines.yml',
  'jenkinsfile',
  // Agents, on start.
  '.mcp.json',
]);

/** Directories of which every file counts as one that programs run or obey. */
const DIRECTORIES: readonly string[] = [
  '.cargo',
  '.circleci',
  '.claude',
  '.cursor',
  '.devcontainer',
  '.git/hooks',
  '.github/actions',
  '.github/workflows',
  '.husky',
  '.idea',
  '.lefthook',
  '.mise',
  '.vscode',
  '.yarn',
];

const ENDINGS: readonly string[] = ['.code-workspace', '.pth'];

/** A symbolic link in a directory: its path, and its target. An absolute target begins at the directory too. */
export type KnownLink = readonly [path: string, target: string];

/** Maximum number of links followed on the way to a target, as in the kernel. */
const MAX_LINK_HOPS = 40;

/** Maximum number of further names that a path gets through one link. */
const MAX_USES = 8;

/**
 * Returns the paths that other programs run or obey without being asked for them by name: shells on entering a
 * directory, editors on opening it, git hooks, package managers, services. Names are compared without regard to case,
 * as on some disks. A person should read these files before the next `cd`, `git commit` or `npm install`. The list is
 * not complete: any program may run any file.
 *
 * `links`: links of the same directory. A path is then also judged by names under which they make it reachable: with
 * the link `.vscode` → `conf`, `conf/tasks.json` is returned. Each link counts for at most 8 names of a path. A path
 * that is one of the links is also returned if it is in place of a directory with such files, or leads to one.
 */
export function autoRunFiles(paths: Iterable<string>, links: Iterable<KnownLink> = []): string[] {
  const known = new LinkNames(links);
  return [...paths].filter((path) => {
    const folded = fold(path);
    const target = known.targets.get(folded);
    if (target !== undefined && (isInPlace(folded) || isInPlace(fold(target)))) return true;
    return known.namesOf(folded).some(isAutoRun);
  });
}

/**
 * Reports whether a path, relative to any directory, is that of a directory whose files other programs run or obey, or
 * of one above such a directory. Links in it may lead to such files.
 */
export function isAutoRunDirectory(path: string): boolean {
  const folded = fold(path);
  return DIRECTORIES.some((directory) => `/${directory}/`.startsWith(`${folded}/`));
}

/** Returns a path in lower case that begins with `/`. The directory itself becomes an empty string. */
function fold(path: string): string {
  const names = path.split('/').filter((name) => name !== '');
  return names.map((name) => `/${name.toLowerCase()}`).join('');
}

/** The names under which links make paths reachable. Paths are folded, targets of links are not. */
class LinkNames {
  readonly targets: ReadonlyMap<string, string>;
  /** Paths of links by the path to which they lead. */
  readonly #leading = new Map<string, string[]>();

  constructor(links: Iterable<KnownLink>) {
    this.targets = new Map([...links].map(([path, target]) => [fold(path), target]));
    for (const path of this.targets.keys()) {
      const place = this.#placeOf(path);
      if (place === undefined) continue;
      const leading = this.#leading.get(place);
      if (leading === undefined) this.#leading.set(place, [path]);
      else leading.push(path);
    }
  }

  /** Returns a path and its other names. Each link is used at most {@link MAX_USES} times: links may form circles. */
  namesOf(path: string): readonly string[] {
    const names = [path];
    if (this.#leading.size === 0) return names;
    const uses = new Map<string, number>();
    for (const name of names) {
      for (let at = name; ; at = at.slice(0, at.lastIndexOf('/'))) {
        for (const link of this.#leading.get(at) ?? []) {
          const used = uses.get(link) ?? 0;
          if (used >= MAX_USES) continue;
          uses.set(link, used + 1);
          names.push(link + name.slice(at.length));
        }
        if (at === '') break;
      }
    }
    return names;
  }

  /**
   * Returns the path to which a link leads, through other links; undefined if it leads out, in a circle or through too
   * many links.
   */
  #placeOf(path: string): string | undefined {
    let at = path.slice(0, path.lastIndexOf('/'));
    const rest = [path.slice(at.length + 1)];
    let hops = 0;
    for (let name = rest.pop(); name !== undefined; name = rest.pop()) {
      if (name === '' || name === '.') continue;
      if (name === '..') {
        if (at === '') return undefined;
        at = at.slice(0, at.lastIndexOf('/'));
        continue;
      }
      const next = `${at}/${name}`;
      const target = this.targets.get(next);
      if (target === undefined) at = next;
      else if (++hops > MAX_LINK_HOPS) return undefined;
      else {
        if (target.startsWith('/')) at = '';
        rest.push(...target.toLowerCase().split('/').reverse());
      }
    }
    return at;
  }
}

/**
 * Reports whether a path is that of a directory whose files other programs run, or lies above or in such a directory.
 */
function isInPlace(folded: string): boolean {
  const path = `${folded}/`;
  return DIRECTORIES.some((directory) => {
    const [first] = directory.split('/');
    return path.endsWith(`/${first}/`) || path.includes(`/${directory}/`);
  });
}

function isAutoRun(folded: string): boolean {
  const name = folded.slice(folded.lastIndexOf('/') + 1);
  if (FILES.has(name) || ENDINGS.some((ending) => name.endsWith(ending))) return true;
  return DIRECTORIES.some((directory) => folded.includes(`/${directory}/`));
}
