import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type CreateFileSystemOptions, createFileSystem, type SyncFileSystem } from 'scratchfs';
import { afterEach, describe, expect, it } from 'vitest';
import { tell } from './story.js';
import { type Output, Terminal } from './terminal.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function makeFolder(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'scratchfs-demo-test-'));
  folders.push(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

class Screen implements Output {
  text = '';
  constructor(readonly isTTY = false) {}
  write(text: string): void {
    this.text += text;
  }
}

type Create = typeof createFileSystem;

async function run(folder: string, create: Create = createFileSystem) {
  const screen = new Screen();
  // An error ends the demo with exit code 1, as a false claim does.
  const broken = await tell({ folder, terminal: new Terminal(screen), create }).catch((error: unknown) => {
    screen.write(String(error));
    return Number.NaN;
  });
  return { broken, text: screen.text };
}

/** Replaces one method of a filesystem and of its forks. */
function withMethod(name: keyof SyncFileSystem, method: (fs: SyncFileSystem) => unknown): Create {
  const change = (fs: SyncFileSystem): SyncFileSystem => {
    const fork = fs.fork.bind(fs);
    Object.defineProperty(fs, 'fork', { value: async () => change(await fork()) });
    return Object.defineProperty(fs, name, { value: method(fs) });
  };
  const create = (options?: CreateFileSystemOptions) => change(createFileSystem(options));
  return create as unknown as Create;
}

const PROJECT = {
  'src/shape.ts': 'export function getArea(side: number): number {\n  return side * side;\n}\n',
  'src/floor/tiles.ts': "import { getArea } from '../shape.js';\n\nexport const tiles = getArea(3);\n",
  'src/wall/paint.ts': "import { getArea } from '../shape.js';\n\nexport const paint = getArea(4) / 2;\n",
  'README.md': '# Shapes\n',
};

describe('The demo', () => {
  it('renames a function of the given tree, and every claim is true', async () => {
    const { broken, text } = await run(makeFolder(PROJECT));
    expect(text).not.toContain('NOT TRUE');
    expect(broken).toBe(0);
    expect(text).toContain('The task: rename getArea() to takeArea()');
    expect(text).toContain(`TS2305 Module '"../shape.js"' has no exported member 'getArea'.`);
    expect(text).toMatch(/old name left +5 lines +0 lines/);
    expect(text).toContain('+export const tiles = takeArea(3);');
    expect(text).toMatch(/error\.code +ENOSPC/);
    expect(text).toMatch(/✓ 29 of 29 claims hold/);
  });

  it('merges versions back into a clone of the given repository, which stays unchanged', async () => {
    const folder = makeFolder(PROJECT);
    const env = { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, env, encoding: 'utf8' });
    git('init', '-q');
    git('add', '-A');
    git('-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '-qm', 'First');
    const { broken, text } = await run(folder);
    expect(text).not.toContain('NOT TRUE');
    expect(broken).toBe(0);
    expect(text).toContain('✓ commit and tree have the ids that git gives them');
    expect(text).toContain('✓ the conflict is told by its path, and the clone is untouched');
    expect(git('status', '--porcelain')).toBe('');
  });

  it('writes its own sources if a tree has none, whatever else is in it', async () => {
    const folder = makeFolder({
      'data.bin': new Uint8Array([0, 255, 254, 13, 10]),
      'bad\u001b[31mname.txt': 'x',
      '__proto__/constructor': '{}',
      'node_modules/left/out.ts': 'export {}',
    });
    symlinkSync('data.bin', join(folder, 'link'));
    symlinkSync('nowhere', join(folder, 'dangling.ts'));
    const { broken, text } = await run(folder);
    expect(text).not.toContain('NOT TRUE');
    expect(broken).toBe(0);
    expect(text).toContain('5 files and 1 directory are there');
    expect(text).toContain('The task: rename makeGreeting() to createGreeting()');
    expect(text).not.toContain('\u001b');
  });

  it('prints the same for the same tree, except for times', async () => {
    const folder = makeFolder(PROJECT);
    const withoutTimes = (text: string) => text.replaceAll(/ +[\d.]+ m?s\b/g, '').replaceAll(/[\d.]+ m?s a file/g, '');
    const [first, second] = [await run(folder), await run(folder)];
    expect(withoutTimes(first.text)).toBe(withoutTimes(second.text));
  });

  it('reports and fails if a rollback does nothing', async () => {
    const { broken, text } = await run(
      makeFolder(PROJECT),
      withMethod('rollback', () => async () => {}),
    );
    expect(broken).not.toBe(0);
    expect(text).toContain('NOT TRUE: everything is as it was');
  });

  it('reports and fails if a write loses a byte', async () => {
    const lossy = withMethod('writeFileSync', (fs) => {
      const write = fs.writeFileSync.bind(fs);
      return (path: string, data: string | Uint8Array) => write(path, data.slice(1));
    });
    const { broken, text } = await run(makeFolder(PROJECT), lossy);
    expect(broken).not.toBe(0);
    expect(text).toContain('NOT TRUE: every byte, link and permission');
  });

  it('reports and fails if a full quota accepts part of a write', async () => {
    const greedy = withMethod('appendFile', (fs) => async (path: string, data: string) => {
      try {
        fs.appendFileSync(path, data);
      } catch (error) {
        fs.appendFileSync(path, '!');
        throw error;
      }
    });
    const { broken, text } = await run(makeFolder(PROJECT), greedy);
    expect(broken).not.toBe(0);
    expect(text).toContain('NOT TRUE: the write that was refused has changed nothing');
  });
});
