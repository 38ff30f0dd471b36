/** Names of files that programs run or obey without being told to, in any directory. */
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

/** Directories whose files are all run or obeyed by programs. */
const DIRECTORIES: readonly string[] = [
  '.cargo',
  '.circleci',
  '.claude',
  '.cursor',
  '.devcontainer',
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

/**
 * Returns the paths that other programs run or obey without being asked for them by name: shells on entering a
 * directory, editors on opening it, git hooks, package managers, services. Names are compared without regard to case,
 * as on some disks. A person should read these files before the next `cd`, `git commit` or `npm install`. The list is
 * not complete: any program may run any file.
 */
export function autoRunFiles(paths: Iterable<string>): string[] {
  return [...paths].filter(isAutoRun);
}

/** Reports whether a link at a path is in place of a directory whose files other programs run, or leads to one. */
export function isAutoRunLink(path: string): boolean {
  const folded = `/${path}/`.toLowerCase();
  return DIRECTORIES.some((directory) => {
    const [first] = directory.split('/');
    return folded.endsWith(`/${first}/`) || folded.includes(`/${directory}/`);
  });
}

function isAutoRun(path: string): boolean {
  const folded = `/${path}`.toLowerCase();
  const name = folded.slice(folded.lastIndexOf('/') + 1);
  if (FILES.has(name) || ENDINGS.some((ending) => name.endsWith(ending))) return true;
  return DIRECTORIES.some((directory) => folded.includes(`/${directory}/`));
}
