import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openFileSystem } from '@scratchfs/core';
import { DiskStorage } from '@scratchfs/disk';
import { applyChanges, type PathChange } from '@scratchfs/host';
import { type AcceptResult, type Attempt, openWorkspace } from '@scratchfs/workspace';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CaseInsensitiveDisk,
  mountCaseInsensitiveDisk,
  whyNoCaseInsensitiveDisk,
} from './case-insensitive-disk.js';
import { interceptSteps } from './host-steps.js';

const reason = whyNoCaseInsensitiveDisk();

describe.skipIf(reason !== undefined)(
  `on a disk that ignores case${reason === undefined ? '' : ` (${reason})`}`,
  () => {
    let disk: CaseInsensitiveDisk;
    let count = 0;
    beforeAll(() => {
      disk = mountCaseInsensitiveDisk();
    });
    afterAll(() => disk.unmount());

    function folder(): string {
      const path = join(disk.path, String(++count));
      mkdirSync(join(path, 'Dir'), { recursive: true });
      for (const [name, text] of [
        ['README.md', 'person'],
        ['a.txt', 'a'],
        ['Dir/x.txt', 'x'],
      ] as const)
        writeFileSync(join(path, name), text);
      return path;
    }

    function git(directory: string, ...args: string[]): string {
      const user = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
      return execFileSync('git', [...user, ...args], { cwd: directory, encoding: 'utf8' }).trim();
    }

    function repository(): string {
      const path = folder();
      git(path, 'init', '-q', '-b', 'main');
      git(path, 'add', '-A');
      git(path, 'commit', '-q', '-m', 'first');
      return path;
    }

    /** Returns what a directory holds, as `path=text`. */
    function shown(directory: string, under = ''): string[] {
      return readdirSync(join(directory, under), { withFileTypes: true })
        .filter(({ name }) => name !== '.git')
        .flatMap((entry) => {
          const path = join(under, entry.name);
          return entry.isDirectory()
            ? shown(directory, path)
            : `${path}=${readFileSync(join(directory, path), 'utf8')}`;
        })
        .sort();
    }

    const FILES = ['Dir/x.txt=x', 'README.md=person', 'a.txt=a'];

    const conflictsOf = ({ conflicts }: Pick<AcceptResult, 'conflicts'>): string[] =>
      conflicts.map(({ path, code }) => `${path} ${code}`);

    async function attemptOn(
      directory: string,
      work: (attempt: Attempt) => Promise<void>,
      isLive = false,
    ): Promise<void> {
      await using workspace = await openWorkspace(directory, { store: 'memory:', live: isLive });
      await work(await workspace.attempt());
    }

    for (const [where, make] of [
      ['a plain folder', folder],
      ['a repository', repository],
    ] as const)
      describe(where, () => {
        it('shows a new file beside one in another case, and its accept is a conflict that loses nothing', async () => {
          const directory = make();
          if (make === repository) expect(git(directory, 'config', 'core.ignorecase')).toBe('true');
          await attemptOn(directory, async (attempt) => {
            const { fileSystem } = attempt;
            expect(await fileSystem.exists('/Readme.md')).toBe(false);
            await fileSystem.writeFile('/Readme.md', 'agent');
            await fileSystem.writeFile('/b.txt', 'b');
            expect(await fileSystem.readdir('/')).toEqual(['Dir', 'README.md', 'Readme.md', 'a.txt', 'b.txt']);
            expect(await fileSystem.readText('/README.md')).toBe('person');
            for (const dryRun of [true, false]) {
              const failed = await attempt.accept({ dryRun });
              expect(failed.success).toBe(false);
              expect(conflictsOf(failed)).toEqual(['/Readme.md case']);
            }
            expect(shown(directory)).toEqual(FILES);
            const skipped = await attempt.accept({ onConflict: 'skip' });
            expect(skipped.accepted).toEqual(['/b.txt']);
            expect(shown(directory)).toEqual([...FILES, 'b.txt=b']);
            expect(await fileSystem.readText('/Readme.md')).toBe('agent');
          });
        });

        it('takes a rename that changes only the case of a file or directory, undoes and repeats it', async () => {
          const directory = make();
          await attemptOn(directory, async (attempt) => {
            await attempt.fileSystem.rename('/a.txt', '/A.txt');
            await attempt.fileSystem.writeFile('/A.txt', 'edited');
            await attempt.fileSystem.rename('/Dir', '/dir');
            expect(await attempt.fileSystem.readdir('/')).toEqual(['A.txt', 'README.md', 'dir']);
            const after = ['A.txt=edited', 'README.md=person', 'dir/x.txt=x'];
            expect(await attempt.accept()).toMatchObject({ success: true, conflicts: [] });
            expect(shown(directory)).toEqual(after);
            await attempt.undo();
            expect(shown(directory)).toEqual(FILES);
            await attempt.redo();
            expect(shown(directory)).toEqual(after);
          });
        });
      });

    it.each(['straße', 'ა'])(
      'a rename by case is taken in a directory %s, whose case the disk does not know',
      async (name) => {
        const directory = folder();
        mkdirSync(join(directory, name));
        writeFileSync(join(directory, name, 'a.txt'), 'a');
        await attemptOn(directory, async (attempt) => {
          expect(await attempt.fileSystem.exists(`/${name}`)).toBe(true);
          expect(await attempt.fileSystem.exists('/readme.md')).toBe(false);
          await attempt.fileSystem.rename(`/${name}/a.txt`, `/${name}/A.txt`);
          expect(await attempt.accept()).toMatchObject({ success: true, conflicts: [] });
          expect(shown(join(directory, name))).toEqual(['A.txt=a']);
        });
      },
    );

    it('a file that replaces a removed one in another case is accepted', async () => {
      const directory = folder();
      await attemptOn(directory, async (attempt) => {
        await attempt.fileSystem.rm('/README.md');
        await attempt.fileSystem.writeFile('/readme.md', 'agent');
        expect(await attempt.accept()).toMatchObject({ success: true, conflicts: [] });
        expect(shown(directory)).toEqual(['Dir/x.txt=x', 'a.txt=a', 'readme.md=agent']);
        await attempt.undo();
        expect(shown(directory)).toEqual(FILES);
      });
    });

    it('of two new files that differ by case one is accepted, and the other is a conflict', async () => {
      const directory = folder();
      await attemptOn(directory, async (attempt) => {
        await attempt.fileSystem.writeFile('/new.txt', 'lower');
        await attempt.fileSystem.writeFile('/NEW.txt', 'upper');
        expect(conflictsOf(await attempt.accept())).toEqual(['/new.txt case']);
        expect(shown(directory)).toEqual(FILES);
        const skipped = await attempt.accept({ onConflict: 'skip' });
        expect(skipped.accepted).toEqual(['/NEW.txt']);
        expect(shown(directory)).toEqual(['Dir/x.txt=x', 'NEW.txt=upper', 'README.md=person', 'a.txt=a']);
        expect(await attempt.fileSystem.readText('/new.txt')).toBe('lower');
      });
    });

    it('a file that the disk still shows after it was removed in another case does not exist', async () => {
      const directory = folder();
      writeFileSync(join(directory, 'NEW.txt'), 'upper');
      expect(statSync(join(directory, 'new.txt')).size).toBe(5);
      rmSync(join(directory, 'NEW.txt'));
      const after = { kind: 'file', mode: 0o644, data: Buffer.from('lower') } as const;
      const { success } = await applyChanges([{ path: '/new.txt', before: undefined, after }], directory);
      expect(shown(directory)).toEqual(success ? [...FILES, 'new.txt=lower'].sort() : FILES);
    });

    it('a new directory beside one in another case is a conflict with all that is in it', async () => {
      const directory = folder();
      await attemptOn(directory, async (attempt) => {
        await attempt.fileSystem.mkdir('/dir');
        await attempt.fileSystem.writeFile('/dir/y.txt', 'y');
        expect(conflictsOf(await attempt.accept())).toEqual(['/dir case', '/dir/y.txt kind']);
        expect((await attempt.accept({ onConflict: 'skip' })).accepted).toEqual([]);
        expect(shown(directory)).toEqual(FILES);
      });
    });

    it('a file that the person renames by case counts as removed, and keeps its name and content', async () => {
      const directory = folder();
      await attemptOn(directory, async (attempt) => {
        await attempt.fileSystem.writeFile('/a.txt', 'agent');
        renameSync(join(directory, 'a.txt'), join(directory, 'A.txt'));
        expect(conflictsOf(await attempt.refresh())).toEqual(['/a.txt removed']);
        expect(conflictsOf(await attempt.accept())).toEqual(['/a.txt removed']);
        expect(shown(directory)).toEqual(['A.txt=a', 'Dir/x.txt=x', 'README.md=person']);
        expect(await attempt.fileSystem.readText('/A.txt')).toBe('a');
      });
    });

    it('the same rename by case of the person and the attempt merges', async () => {
      const directory = folder();
      await attemptOn(directory, async (attempt) => {
        await attempt.fileSystem.rename('/a.txt', '/A.txt');
        renameSync(join(directory, 'a.txt'), join(directory, 'A.txt'));
        expect(conflictsOf(await attempt.refresh())).toEqual([]);
        expect((await attempt.accept()).success).toBe(true);
        expect(shown(directory)).toEqual(['A.txt=a', 'Dir/x.txt=x', 'README.md=person']);
      });
    });

    it('a file that the person creates in another case during an accept is a conflict, and keeps its content', async () => {
      const directory = folder();
      await attemptOn(directory, async (attempt) => {
        await attempt.fileSystem.writeFile('/new.txt', 'agent');
        let isCreated = false;
        const takeBack = await interceptSteps(({ name, run }) => {
          if (name === 'link' && !isCreated) {
            isCreated = true;
            writeFileSync(join(directory, 'NEW.txt'), 'person');
          }
          return run();
        });
        const result = await attempt.accept().finally(takeBack);
        expect(isCreated).toBe(true);
        expect(conflictsOf(result)).toEqual(['/new.txt case']);
        expect(shown(directory)).toEqual(['Dir/x.txt=x', 'NEW.txt=person', 'README.md=person', 'a.txt=a']);
      });
    });

    it('a live attempt refuses a name that the disk has in another case, and renames by case', async () => {
      const directory = folder();
      await attemptOn(
        directory,
        async (attempt) => {
          const refused = attempt.fileSystem.writeFile('/Readme.md', 'agent');
          await expect(refused).rejects.toMatchObject({
            code: 'EEXIST',
            message: expect.stringContaining('another case'),
          });
          await attempt.fileSystem.rename('/a.txt', '/A.txt');
          expect(shown(directory)).toEqual(['A.txt=a', 'Dir/x.txt=x', 'README.md=person']);
          await attempt.undo();
          expect(shown(directory)).toEqual(FILES);
        },
        true,
      );
    });

    it('an accept as a branch holds both spellings, and a merge refuses them; both leave the work tree', async () => {
      const directory = repository();
      await attemptOn(directory, async (attempt) => {
        await attempt.fileSystem.writeFile('/Readme.md', 'agent');
        const merged = await attempt.accept({ as: 'merge' });
        expect(merged).toMatchObject({ success: false, message: expect.stringContaining("in the way: 'Readme.md'") });
        expect((await attempt.accept({ as: 'branch', branch: 'agent' })).success).toBe(true);
        expect(git(directory, 'show', 'agent:README.md')).toBe('person');
        expect(git(directory, 'show', 'agent:Readme.md')).toBe('agent');
        expect(git(directory, 'status', '--short')).toBe('');
        expect(shown(directory)).toEqual(FILES);
      });
    });

    it('a command in an OS sandbox changes the case of names, as the attempt itself does', async () => {
      const directory = folder();
      await attemptOn(directory, async (attempt) => {
        await attempt.run('mv a.txt A.txt; printf agent > Readme.md');
        expect(await attempt.fileSystem.readdir('/')).toEqual(['A.txt', 'Dir', 'README.md', 'Readme.md']);
        expect(conflictsOf(await attempt.accept({ onConflict: 'skip' }))).toEqual(['/Readme.md case']);
        expect(shown(directory)).toEqual(['A.txt=a', 'Dir/x.txt=x', 'README.md=person']);
      });
    });

    it('applyChanges() renames by case, and does not take one spelling for the other', async () => {
      const directory = folder();
      const file = (data: string) => ({ kind: 'file', data }) as const;
      const rename: readonly PathChange[] = [
        { path: '/A.txt', after: file('a') },
        { path: '/a.txt', before: file('a') },
      ];
      expect(await applyChanges(rename, directory)).toMatchObject({ success: true, conflicts: [] });
      expect(shown(directory)).toEqual(['A.txt=a', 'Dir/x.txt=x', 'README.md=person']);
      expect(await applyChanges([{ path: '/dir/y.txt', after: file('y') }], directory)).toMatchObject({
        success: false,
        conflicts: [{ path: '/dir/y.txt', code: 'not-a-directory' }],
      });
      for (const onConflict of ['fail', 'overwrite'] as const)
        expect(await applyChanges([{ path: '/a.txt', after: file('new') }], directory, { onConflict })).toMatchObject({
          success: false,
          conflicts: [{ path: '/a.txt', code: 'exists' }],
        });
      expect(await applyChanges([{ path: '/a.txt', before: file('a'), after: file('A') }], directory)).toMatchObject({
        success: false,
        conflicts: [{ path: '/a.txt', code: 'missing' }],
      });
      expect(shown(directory)).toEqual(['A.txt=a', 'Dir/x.txt=x', 'README.md=person']);
    });

    it('DiskStorage refuses the disk, because it has no hard links', async () => {
      const opened = openFileSystem(new DiskStorage(join(disk.path, 'store')));
      await expect(opened).rejects.toMatchObject({
        kind: 'unsupported',
        message: expect.stringContaining('hard links'),
      });
    });
  },
);
