import { type AsyncStorage, asyncForm, type SyncFileSystem } from '@scratchfs/core';
import { describe, expect, it } from 'vitest';
import { createFileSystem, type FileSystem, isFsError, isStorageError, MemoryStorage } from './index.js';

const far = (storage = new MemoryStorage()): Promise<FileSystem> => createFileSystem({ storage: asyncForm(storage) });
const codeOf = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return isFsError(error) ? error.code : (error as Error).constructor.name;
  }
  return undefined;
};

describe('createFileSystem', () => {
  it('accepts files as a record or pairs, and toJSON returns a record that creates the same again', () => {
    const files = { '/a/text': 'é', '/bytes': new Uint8Array([255, 0]), '/link': { symlink: 'a' }, '/empty': null };
    const fs = createFileSystem({ files });
    const again = createFileSystem({ files: JSON.parse(JSON.stringify(fs)) });
    expect(again.toJSON()).toEqual(fs.toJSON());
    expect(createFileSystem({ files: Object.entries(files) }).toJSON()).toEqual(fs.toJSON());
    expect([...again.readFileSync('/bytes')]).toEqual([255, 0]);
  });

  it('counts initial files against the limits, and creates none if they do not fit', () => {
    const options = { files: { '/a': '12345', '/b': '12345' }, limits: { maxTotalSize: 9 } };
    expect(codeOf(() => createFileSystem(options))).toBe('ENOSPC');
  });

  it.each([
    ['null', null],
    ['an unknown option', { fils: {} }],
    ['a signal, which it has no use for', { signal: new AbortController().signal }],
    ['a negative limit', { limits: { maxTotalSize: -1 } }],
    ['a limit that is no integer', { limits: { maxNodeCount: 1.5 } }],
    ['a limit that is text', { limits: { maxFileSize: '1' } }],
    ['a misspelt limit', { limits: { maxSize: 1 } }],
    ['a clock that is a number', { clock: 5 }],
    ['content for the root', { files: { '/': 'text' } }],
    [
      'the same path twice',
      {
        files: [
          ['/a', ''],
          ['a', ''],
        ],
      },
    ],
  ])('refuses %s', (_, options) => {
    expect(['TypeError', 'RangeError']).toContain(codeOf(() => createFileSystem(options as never)));
  });

  it('shows the same state to two filesystems on one storage', async () => {
    const storage = new MemoryStorage();
    const [a, b] = [createFileSystem({ storage }), createFileSystem({ storage })];
    a.writeFileSync('/f', 'from a');
    expect(b.readTextSync('/f')).toBe('from a');
    const handle = b.openSync('/f', 'r+');
    a.renameSync('/f', '/g');
    handle.writeSync('FROM', 0);
    expect(a.readTextSync('/g')).toBe('FROM a');
    await a.close();
    expect(b.readTextSync('/g')).toBe('FROM a');
    expect(codeOf(() => a.readTextSync('/g'))).toBe('EBADF');
  });

  it('reports that a closed storage is closed', () => {
    const storage = new MemoryStorage();
    const fs = createFileSystem({ storage });
    storage.close();
    for (const work of [() => storage.get('/'), () => fs.readdirSync('/')]) {
      expect(() => work()).toThrow(expect.objectContaining({ kind: 'closed' }));
    }
    expect(isStorageError(new Error('no'))).toBe(false);
  });

  it('leaves the storage open, or closes it with `closesStorage`', async () => {
    for (const closesStorage of [false, true]) {
      const [near, far] = [new MemoryStorage(), asyncForm(new MemoryStorage())];
      await createFileSystem({ storage: near, closesStorage }).close();
      const fs = await createFileSystem({ storage: far, closesStorage });
      await fs.writeFile('/f', 'x');
      await fs.close();
      const outcomes = await Promise.allSettled([(async () => near.stats())(), far.stats()]);
      for (const outcome of outcomes)
        expect('reason' in outcome && isStorageError(outcome.reason, 'closed')).toBe(closesStorage);
    }
    expect(() => createFileSystem({ closesStorage: 'yes' as never })).toThrow(TypeError);
  });

  it('is closed at the end of the block that declares it, and so is a storage', async () => {
    let left: SyncFileSystem;
    {
      await using fs = createFileSystem({ files: { '/f': 'x' } });
      left = fs;
    }
    expect(codeOf(() => left.readTextSync('/f'))).toBe('EBADF');
    let far: AsyncStorage;
    {
      await using storage = asyncForm(new MemoryStorage());
      far = storage;
      await storage.set({ path: '/f' });
    }
    await expect(far.get('/f')).rejects.toMatchObject({ kind: 'closed' });
  });
});

describe('bytes', () => {
  it('of a Node Buffer are read at the call', async () => {
    const fs = await far();
    const bytes = Buffer.from('hello');
    const written = fs.writeFile('/a', bytes);
    bytes.fill(88);
    await written;
    const handle = await fs.open('/a', 'a');
    const more = Buffer.from(' you');
    const appended = handle.write(more);
    more.fill(88);
    await appended;
    expect(await fs.readText('/a')).toBe('hello you');
  });

  it('of a copy stay the same when the source is truncated and written', () => {
    const fs = createFileSystem();
    const source = fs.openSync('/d', 'w+');
    source.writeSync(new Uint8Array(5000).fill(1), 66_000);
    source.writeSync(new Uint8Array(5000).fill(2), 0);
    fs.cpSync('/d', '/c');
    const before = fs.readFileSync('/d');
    const copy = fs.openSync('/c', 'r+');
    copy.truncateSync(5000);
    copy.writeSync('appended', 5000);
    expect(fs.readFileSync('/d')).toEqual(before);
  });

  it('that are not UTF-8 are not rewritten by an edit', () => {
    const fs = createFileSystem({ files: { '/f': new Uint8Array([0xff, 0x61, 0xfe]) } });
    expect(codeOf(() => fs.editFileSync('/f', 'a', 'b'))).toBe('EINVAL');
    expect([...fs.readFileSync('/f')]).toEqual([0xff, 0x61, 0xfe]);
  });
});

describe('handles', () => {
  it.each([
    ['memory', () => Promise.resolve(createFileSystem() as FileSystem)],
    ['far', far],
  ] as const)('share one position among concurrent calls, on %s', async (_, create) => {
    const fs = await create();
    const handle = await fs.open('/f', 'w+');
    await Promise.all(['aaa', 'bbb', 'ccc'].map((text) => handle.write(text)));
    expect(await fs.readText('/f')).toBe('aaabbbccc');
  });

  it.each([
    ['memory', () => Promise.resolve(createFileSystem() as FileSystem)],
    ['far', far],
  ] as const)('opened in a transaction end with it, on %s', async (_, create) => {
    const fs = await create();
    await fs.writeFile('/f', 'x');
    const handle = await fs.transaction((tx) => tx.open('/f', 'r+'));
    await expect(handle.write('y')).rejects.toMatchObject({ code: 'EBADF' });
    expect(await fs.readText('/f')).toBe('x');
  });

  it('follow a file that is overwritten by a copy to another of its names, within the limits', () => {
    const fs = createFileSystem({ limits: { maxTotalSize: 10 } });
    fs.writeFileSync('/a', '12345');
    fs.linkSync('/a', '/b');
    fs.writeFileSync('/c', '12345');
    expect(codeOf(() => fs.cpSync('/c', '/b'))).toBe('ENOSPC');
    expect(fs.statsSync().totalSize).toBe(10);
  });
});

describe('checkpoints', () => {
  it('are found by name before an equal id', () => {
    const fs = createFileSystem();
    fs.writeFileSync('/f', 'named');
    fs.checkpointSync('checkpoint-2');
    fs.writeFileSync('/f', 'second');
    fs.checkpointSync();
    fs.checkpointSync();
    fs.rollbackSync('checkpoint-2');
    expect(fs.readTextSync('/f')).toBe('named');
  });

  it('of another filesystem are refused', () => {
    const [a, b] = [createFileSystem(), createFileSystem()];
    const checkpoint = a.checkpointSync();
    b.checkpointSync();
    expect(codeOf(() => b.rollbackSync(checkpoint))).toBe('ENOENT');
  });
});

describe('content', () => {
  it('of a subclass counts with its real size', () => {
    class Small extends Uint8Array {
      override get byteLength(): number {
        return 0;
      }
      override get length(): number {
        return 0;
      }
    }
    const fs = createFileSystem({ limits: { maxTotalSize: 10 } });
    expect(codeOf(() => fs.writeFileSync('/f', new Small(1000)))).toBe('ENOSPC');
    fs.writeFileSync('/f', new Small(4));
    expect(fs.statSync('/f').size).toBe(4);
  });

  it('of a detached buffer is refused, and the file stays as it was', () => {
    const fs = createFileSystem({ files: { '/f': 'kept' } });
    const bytes = new Uint8Array(8);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    expect(codeOf(() => fs.writeFileSync('/f', bytes))).toBe('TypeError');
    expect(fs.readTextSync('/f')).toBe('kept');
    fs.writeFileSync('/f', new Uint8Array(0));
    expect(fs.readTextSync('/f')).toBe('');
  });
});

describe('transactions', () => {
  it('that only read do not conflict with writers', async () => {
    const fs = createFileSystem({ files: { '/a': '1' } });
    let runs = 0;
    const seen = await fs.transaction(async (tx) => {
      runs += 1;
      const before = await tx.readText('/a');
      fs.writeFileSync('/a', String(runs + 1));
      return [before, await tx.readText('/a')];
    });
    expect([runs, ...seen]).toEqual([1, '1', '1']);
  });

  it('wait for operations that were begun inside and not awaited', async () => {
    for (const fs of [createFileSystem() as FileSystem, await far()]) {
      let late: Promise<void> | undefined;
      await fs.transaction(async (tx) => {
        late = tx.writeFile('/late', 'x');
      });
      await late;
      expect(await fs.readText('/late')).toBe('x');
    }
  });

  it('count open files without a name against the limit', async () => {
    const fs = createFileSystem({ limits: { maxTotalSize: 100 } });
    const handle = fs.openSync('/f', 'w');
    handle.writeSync(new Uint8Array(40));
    fs.unlinkSync('/f');
    expect(codeOf(() => fs.writeFileSync('/n', new Uint8Array(61)))).toBe('ENOSPC');
    expect(codeOf(() => fs.transactionSync((tx) => tx.writeFileSync('/n', new Uint8Array(61))))).toBe('ENOSPC');
    handle.closeSync();
    fs.writeFileSync('/n', new Uint8Array(61));
  });
});
