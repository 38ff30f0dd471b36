import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileSystem } from '@scratchfs/core';
import { afterAll, describe, expect, it } from 'vitest';
import type { Attempt } from '../attempt-types.js';
import { Directories } from '../testing/directories.js';
import { openWorkspace } from '../workspace.js';

const directories = new Directories();
afterAll(() => directories.remove());

const OLD = '1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n';
const NEW = OLD.replace('1\n', 'AGENT\n').replace('12', 'AGENT');

/** Runs work on an attempt in whose directory `/a`, `/d/b` and `/node_modules/c` are one file. */
async function withLinks(work: (attempt: Attempt, disk: string) => Promise<void>): Promise<void> {
  const disk = directories.directory({ a: OLD, 'd/other': '', 'node_modules/x': '', '.gitignore': 'node_modules\n' });
  for (const name of ['d/b', 'node_modules/c']) linkSync(join(disk, 'a'), join(disk, name));
  await using workspace = await openWorkspace(disk, { store: 'memory:' });
  await work(await workspace.attempt(), disk);
}

const read = (disk: string) => ['a', 'd/b', 'node_modules/c'].map((name) => readFileSync(join(disk, name), 'utf8'));

describe('a file with several names', () => {
  it.each(['/a', '/d/b'])('is accepted under all of them if %s is named', (path) =>
    withLinks(async (attempt, disk) => {
      await attempt.fileSystem.writeFile('/a', NEW);
      expect((await attempt.diff()).paths.map((one) => one.path)).toEqual(['/a', '/d/b']);
      const { success, accepted } = await attempt.accept({ paths: [path] });
      expect([success, accepted]).toEqual([true, ['/a', '/d/b']]);
      expect(read(disk)).toEqual([NEW, NEW, OLD]);
      expect(await attempt.fileSystem.readText('/d/b')).toBe(NEW);
      expect((await attempt.diff()).paths).toEqual([]);
      await attempt.undo();
      expect(read(disk)).toEqual([OLD, OLD, OLD]);
      for (const name of ['/a', '/d/b']) expect(await attempt.fileSystem.readText(name)).toBe(NEW);
    }),
  );

  it.each<[string, (attempt: Attempt) => Promise<unknown>]>([
    ['moved away', ({ fileSystem }) => fileSystem.rename('/a', '/c')],
    [
      'replaced',
      async ({ fileSystem }) => {
        await fileSystem.rm('/a');
        await fileSystem.writeFile('/a', 'another file');
      },
    ],
  ])('has the content of that time if a name that was %s is restored', (_what, change) =>
    withLinks(async (attempt) => {
      await attempt.fileSystem.writeFile('/first', '');
      await attempt.fileSystem.writeFile('/a', NEW);
      await change(attempt);
      await attempt.restore(1, { path: '/a' });
      expect(await attempt.fileSystem.readText('/a')).toBe(OLD);
    }),
  );

  it.each([
    ['', async () => {}],
    [', and which the person has renamed', async (disk: string) => renameSync(join(disk, 'a'), join(disk, 'moved'))],
  ])('keeps a later edit by the person if the name that was changed is removed%s', (_, rename) =>
    withLinks(async (attempt, disk) => {
      await attempt.fileSystem.writeFile('/a', NEW);
      await rename(disk);
      const edited = OLD.replace('6', 'PERSON');
      writeFileSync(join(disk, 'd/b'), edited);
      await attempt.refresh();
      await attempt.fileSystem.rm('/a');
      expect((await attempt.accept()).success).toBe(true);
      expect(readFileSync(join(disk, 'd/b'), 'utf8')).toBe(NEW.replace('6', 'PERSON'));
    }),
  );

  it.each([
    ['the same content', OLD],
    ['what the attempt wrote', NEW],
    ['another content', OLD.replace('4', 'PERSON')],
  ])('keeps an edit by the person after they have written the changed name anew, with %s', (_, anew) =>
    withLinks(async (attempt, disk) => {
      await attempt.fileSystem.writeFile('/a', NEW);
      rmSync(join(disk, 'a'));
      writeFileSync(join(disk, 'a'), anew);
      await attempt.refresh();
      writeFileSync(join(disk, 'd/b'), OLD.replace('6', 'PERSON'));
      expect((await attempt.accept()).success).toBe(true);
      expect(readFileSync(join(disk, 'd/b'), 'utf8')).toBe(NEW.replace('6', 'PERSON'));
    }),
  );

  it.each<[string, (fs: FileSystem) => Promise<unknown>, string]>([
    ['one', async () => {}, 'a'],
    ['the old one', (fs) => fs.rename('/a', '/moved'), 'moved'],
    ['the old one of two', (fs) => fs.chmod('/d/b', 0o600).then(() => fs.rename('/a', '/moved')), 'moved'],
  ])(
    'keeps lines that the person has removed from another file alone, if that has %s of its names now',
    (_what, change, name) =>
      withLinks(async (attempt, disk) => {
        await attempt.fileSystem.writeFile('/a', NEW);
        await change(attempt.fileSystem);
        rmSync(join(disk, 'a'));
        writeFileSync(join(disk, 'a'), OLD.replace('6\n', ''));
        expect((await attempt.refresh()).conflicts).toEqual([]);
        expect((await attempt.accept()).success).toBe(true);
        expect(readFileSync(join(disk, 'd/b'), 'utf8')).toBe(NEW);
        expect(readFileSync(join(disk, name), 'utf8')).toBe(NEW.replace('6\n', ''));
      }),
  );

  it.each([
    ['edit one of its names', '/a', false],
    ['replace one of its names', '/a', true],
    ['replace the old one of a moved name', '/moved', true],
  ])('keeps the change of the person after an undo and a redo, if they %s', (_what, path, isReplaced) =>
    withLinks(async (attempt, disk) => {
      const { fileSystem } = attempt;
      if (path !== '/a') await fileSystem.rename('/a', path);
      const second = NEW.replace('3', 'AGENT');
      for (const text of [NEW, second]) await fileSystem.writeFile(path, text);
      if (isReplaced) rmSync(join(disk, 'a'));
      writeFileSync(join(disk, 'a'), OLD.replace('6', 'PERSON'));
      const shown = async () => {
        await attempt.refresh();
        return [await fileSystem.readText(path), await fileSystem.readText('/d/b')];
      };
      const both = (text: string) => [text.replace('6', 'PERSON'), isReplaced ? text : text.replace('6', 'PERSON')];
      expect(await shown()).toEqual(both(second));
      await attempt.undo();
      expect(await shown()).toEqual(both(NEW));
      await attempt.undo();
      expect(await shown()).toEqual(both(OLD));
      for (const _ of [1, 2]) await attempt.redo();
      expect(await shown()).toEqual(both(second));
      await attempt.undo();
      expect((await attempt.accept()).success).toBe(true);
      expect(await shown()).toEqual(both(NEW));
    }),
  );

  it.each(['/d/b', '/moved'])(
    'takes nothing over into a name that the person has given to another file from %s',
    (other) =>
      withLinks(async (attempt, disk) => {
        await attempt.fileSystem.writeFile('/d/b', NEW);
        await attempt.fileSystem.chmod('/a', 0o600);
        if (other !== '/d/b') await attempt.fileSystem.rename('/d/b', other);
        writeFileSync(join(disk, 'd/b'), OLD.replace('9\n', ''));
        rmSync(join(disk, 'a'));
        writeFileSync(join(disk, 'a'), OLD.replace('5', 'PERSON'));
        await attempt.refresh();
        expect((await attempt.accept()).success).toBe(true);
        expect(readFileSync(join(disk, 'a'), 'utf8')).toBe(NEW.replace('5', 'PERSON'));
        expect(readFileSync(join(disk, other), 'utf8')).toBe(NEW.replace('9\n', ''));
      }),
  );

  it('keeps what the person has changed under one name, if another one is restored', () =>
    withLinks(async (attempt, disk) => {
      await attempt.fileSystem.writeFile('/a', NEW);
      await attempt.fileSystem.writeFile('/a', NEW.replace('3', 'AGENT'));
      writeFileSync(join(disk, 'a'), OLD.replace('6', 'PERSON'));
      await attempt.refresh();
      await attempt.restore(1, { path: '/d/b' });
      expect((await attempt.accept()).success).toBe(true);
      const text = NEW.replace('6', 'PERSON');
      expect(read(disk).slice(0, 2)).toEqual([text, text]);
    }));

  it('can be written after the person has written the changed name anew', () =>
    withLinks(async (attempt, disk) => {
      await attempt.fileSystem.writeFile('/a', NEW);
      rmSync(join(disk, 'a'));
      writeFileSync(join(disk, 'a'), OLD);
      await attempt.fileSystem.appendFile('/a', 'more');
      expect(await attempt.fileSystem.readText('/a')).toBe(`${NEW}more`);
    }));

  it.each<[string, (fs: FileSystem) => Promise<unknown>]>([
    ['removed with its directory', (fs) => fs.rm('/d', { recursive: true })],
    [
      'moved, and removed with its directory',
      async (fs) => {
        await fs.rename('/d', '/e');
        await fs.rm('/e', { recursive: true });
      },
    ],
    [
      'moved out of a directory that is removed then',
      async (fs) => {
        await fs.rename('/d/b', '/moved');
        await fs.rm('/d', { recursive: true });
        await fs.rm('/moved');
      },
    ],
    ['given to another file', (fs) => fs.rename('/d/other', '/d/b')],
  ])('keeps an edit by the person, earlier or later, if the name that was changed is %s', async (_what, change) => {
    for (const isLater of [false, true])
      await withLinks(async (attempt, disk) => {
        await attempt.fileSystem.writeFile('/d/b', NEW);
        const edit = () => writeFileSync(join(disk, 'a'), OLD.replace('6', 'PERSON'));
        if (!isLater) edit();
        await change(attempt.fileSystem);
        if (isLater) edit();
        expect(await attempt.accept({ paths: ['/a'] })).toMatchObject({ success: true, accepted: ['/a'] });
        expect(readFileSync(join(disk, 'a'), 'utf8')).toBe(NEW.replace('6', 'PERSON'));
      });
  });

  it('begins from its own state, not from that of a file whose name it has taken', () =>
    withLinks(async (attempt) => {
      const fs = attempt.fileSystem;
      await fs.writeFile('/a', NEW);
      await fs.rm('/d/other');
      await fs.link('/a', '/d/other');
      await fs.chmod('/d/b', 0o755);
      expect((await attempt.refresh()).conflicts).toEqual([]);
      expect((await attempt.accept()).success).toBe(true);
    }));

  it('has the accepted hunk under all names, and the other one stays a change of all', () =>
    withLinks(async (attempt, disk) => {
      await attempt.fileSystem.writeFile('/a', NEW);
      const [hunk] = (await attempt.diff({ hunks: true })).paths[1]?.hunks ?? [];
      expect((await attempt.accept({ hunks: [String(hunk?.id)] })).accepted).toEqual(['/a', '/d/b']);
      const half = OLD.replace('1\n', 'AGENT\n');
      expect(read(disk)).toEqual([half, half, OLD]);
      for (const name of ['/a', '/d/b']) expect(await attempt.fileSystem.readText(name)).toBe(NEW);
      expect((await attempt.diff()).paths.map((one) => one.path)).toEqual(['/a', '/d/b']);
    }));

  it('keeps what the person has written into it, whatever the order of the names', () =>
    withLinks(async (attempt, disk) => {
      await attempt.fileSystem.writeFile('/a', NEW);
      writeFileSync(join(disk, 'd/b'), OLD.replace('6', 'PERSON'));
      await attempt.fileSystem.chmod('/d/b', 0o600);
      expect((await attempt.accept()).success).toBe(true);
      expect(read(disk).slice(0, 2)).toEqual(Array(2).fill(NEW.replace('6', 'PERSON')));
    }));

  it('is accepted at the operation that diff() has shown, and a dry run or a patch adds none', () =>
    withLinks(async (attempt, disk) => {
      await attempt.fileSystem.writeFile('/a', NEW);
      const { head } = await attempt.diff();
      const both = { success: true, accepted: ['/a', '/d/b'] };
      expect(await attempt.accept({ dryRun: true, expect: head })).toMatchObject(both);
      expect(await attempt.accept({ as: 'patch', expect: head })).toMatchObject(both);
      expect(await attempt.head()).toBe(head);
      expect(await attempt.accept({ expect: head })).toMatchObject(both);
      expect(read(disk)).toEqual([NEW, NEW, OLD]);
      await expect(attempt.accept({ expect: head })).rejects.toMatchObject({ code: 'moved' });
    }));

  it('moves with a directory, and the edit with it', () =>
    withLinks(async (attempt, disk) => {
      await attempt.fileSystem.rename('/d', '/e');
      await attempt.fileSystem.writeFile('/a', NEW);
      expect((await attempt.accept()).success).toBe(true);
      expect(readFileSync(join(disk, 'e/b'), 'utf8')).toBe(NEW);
    }));

  it('is written under all of them by an operation of a live attempt', async () => {
    const disk = directories.directory({ a: OLD, 'd/other': '' });
    linkSync(join(disk, 'a'), join(disk, 'd/b'));
    await using workspace = await openWorkspace(disk, { store: 'memory:', live: true });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.writeFile('/a', NEW);
    const both = () => ['a', 'd/b'].map((name) => readFileSync(join(disk, name), 'utf8'));
    expect(both()).toEqual([NEW, NEW]);
    const [{ changes = [] } = {}] = (await attempt.log()).operations;
    const size = { before: { size: OLD.length }, after: { size: NEW.length } };
    expect(changes).toMatchObject([
      { path: '/a', ...size },
      { path: '/d/b', ...size },
    ]);
    await attempt.undo();
    expect(both()).toEqual([OLD, OLD]);
  });

  it('is not accepted under a name that the person has given to another file', () =>
    withLinks(async (attempt, disk) => {
      await attempt.fileSystem.writeFile('/a', NEW);
      writeFileSync(join(disk, 'd/other'), 'PERSON');
      renameSync(join(disk, 'd/other'), join(disk, 'd/b'));
      mkdirSync(join(disk, 'empty'));
      expect((await attempt.accept()).accepted).toEqual(['/a']);
      expect(read(disk)).toEqual([NEW, 'PERSON', OLD]);
    }));

  it('is untouched under the names that an accept has found, once accept and change are undone', () =>
    withLinks(async (attempt, disk) => {
      await attempt.fileSystem.writeFile('/a', NEW);
      await attempt.accept();
      await attempt.undo();
      await attempt.undo();
      expect((await attempt.diff()).paths).toEqual([]);
      expect(await attempt.fileSystem.readText('/d/b')).toBe(OLD);
      expect((await attempt.accept()).accepted).toEqual([]);
      expect(read(disk)).toEqual([OLD, OLD, OLD]);
    }));

  it.each<[string, (fs: FileSystem) => Promise<unknown>]>([
    ['removes', (fs) => fs.rm('/d/new')],
    ['replaces', (fs) => fs.rename('/other', '/d/new')],
    ['removes the directory of', (fs) => fs.rm('/d', { recursive: true })],
  ])('keeps what the person has written and renamed, if the attempt %s the new name unseen', async (_, change) => {
    const disk = directories.directory({ a: OLD, other: 'other', 'd/x': 'x' });
    await using workspace = await openWorkspace(disk, { store: 'memory:' });
    const attempt = await workspace.attempt();
    await attempt.fileSystem.link('/a', '/b');
    writeFileSync(join(disk, 'a'), `${OLD}PERSON\n`);
    renameSync(join(disk, 'a'), join(disk, 'd/new'));
    await change(attempt.fileSystem);
    await attempt.accept({ onConflict: 'skip' });
    expect(readFileSync(join(disk, 'd/new'), 'utf8')).toBe(`${OLD}PERSON\n`);
  });

  it('can be read after the person has removed the name under which it was changed', () =>
    withLinks(async (attempt, disk) => {
      const fs = attempt.fileSystem;
      await fs.writeFile('/d/b', NEW);
      rmSync(join(disk, 'd/b'));
      rmSync(join(disk, 'node_modules/c'));
      const entries = await fs.entries('/', { content: true });
      expect(entries.flatMap((one) => (one.kind === 'file' ? [[one.path, one.size, one.content.length]] : []))).toEqual(
        [
          ['/.gitignore', 13, 13],
          ['/a', NEW.length, NEW.length],
        ],
      );
      await fs.appendFile('/a', 'more\n');
      expect(await fs.readText('/d/b')).toBe(`${NEW}more\n`);
    }));
});
