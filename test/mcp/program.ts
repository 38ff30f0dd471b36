import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A directory of a person and a place for the stores, both removed when the test ends. */
export interface Grounds {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  /** Arguments of node that run the program on the directory. */
  args(...more: readonly string[]): string[];
  /** Paths and contents of the directory, or of the stores. */
  read(what?: 'directory' | 'stores'): Record<string, string>;
}

export function grounds(files: Readonly<Record<string, string>>): Grounds {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'scratchfs-mcp-')));
  // Commands of root run as another user, who has to reach the directory.
  chmodSync(top, 0o755);
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const [directory, state] = [join(top, 'project'), join(top, 'state')];
  mkdirSync(directory);
  mkdirSync(state);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  return {
    directory,
    env: { PATH: process.env['PATH'] ?? '', HOME: top, XDG_STATE_HOME: state },
    args: (...more) => [...PROGRAM, directory, ...more],
    read: (what = 'directory') => contentsOf(what === 'directory' ? directory : state),
  };
}

/** Arguments of node that run the program. */
export const PROGRAM: readonly string[] = [
  '--conditions=@scratchfs/source',
  '--import',
  import.meta.resolve('tsx'),
  join(root, 'packages', 'mcp', 'src', 'bin.ts'),
];

export function contentsOf(top: string): Record<string, string> {
  const files = readdirSync(top, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path.slice(top.length), readFileSync(path, 'latin1')]),
  );
}
