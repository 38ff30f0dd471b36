import { describe, expect, it } from 'vitest';
import { createFileSystem } from './index.js';

const LINES = 100_000;
const TEXT = Array.from({ length: LINES }, (_, i) => `line ${i} of the téxt\n`).join('');

describe('an edit of a long text', () => {
  it('gives the same result in steps as synchronously', async () => {
    const fs = createFileSystem({ files: { '/a': TEXT, '/b': TEXT } });
    expect(await fs.editFile('/a', 'line 70000 ', '☃')).toBe(fs.editFileSync('/b', 'line 70000 ', '☃'));
    expect(await fs.editFile('/a', 'téxt', '', { all: true })).toBe(fs.editFileSync('/b', 'téxt', '', { all: true }));
    expect(await fs.readText('/a')).toBe(fs.readTextSync('/b'));
  });

  it('keeps concurrent writes', async () => {
    const fs = createFileSystem({ files: { '/a': TEXT } });
    const edit = fs.editFile('/a', 'line 70000 ', '☃');
    await Promise.resolve();
    fs.editFileSync('/a', 'line 3 ', 'edited ');
    expect(await edit).toBe(1);
    expect(await fs.readText('/a')).toBe(TEXT.replace('line 70000 ', '☃').replace('line 3 ', 'edited '));
  });

  it('is refused if the bytes are not UTF-8, and changes nothing', async () => {
    const bytes = new TextEncoder().encode(TEXT);
    bytes[1_500_000] = 0xff;
    const fs = createFileSystem({ files: { '/a': bytes } });
    await expect(fs.editFile('/a', 'line 70000 ', 'x')).rejects.toMatchObject({ code: 'EINVAL', syscall: 'edit' });
    expect(Buffer.compare(await fs.readFile('/a'), bytes)).toBe(0);
  });

  it('stops when its signal aborts, and changes nothing', async () => {
    const fs = createFileSystem({ files: { '/a': TEXT } });
    const controller = new AbortController();
    const edit = fs.editFile('/a', 'téxt', 'text', { all: true, signal: controller.signal });
    controller.abort();
    await expect(edit).rejects.toThrow();
    expect(await fs.readText('/a')).toBe(TEXT);
  });

  it('obeys the limits', async () => {
    const fs = createFileSystem({ files: { '/a': TEXT }, limits: { maxFileSize: 3_000_000 } });
    await expect(fs.editFile('/a', 'téxt', 'a much longer text', { all: true })).rejects.toMatchObject({
      code: 'EFBIG',
    });
    expect(await fs.readText('/a')).toBe(TEXT);
  });
});
