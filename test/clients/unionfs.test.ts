import { join } from 'node:path';
import { promisify } from 'node:util';
import { Union } from 'unionfs';
import { describe, expect, it } from 'vitest';
import { freshFs, onBoth, writeFiles } from './grounds.js';

describe('unionfs', () => {
  it('shows two filesystems as one: the upper one first, the lower one for missing names', async () => {
    const { answer } = await onBoth(async (ground) => {
      const { fs: upper, root } = ground;
      const lower = await freshFs();
      writeFiles({ fs: lower, root }, { 'both.txt': 'lower', 'lower.txt': 'lower', 'sub/b.txt': 'b' });
      writeFiles(ground, { 'both.txt': 'upper', 'upper.txt': 'upper', 'sub/a.txt': 'a' });
      const union = new Union();
      union.use(lower as never).use(upper as never);
      const at = (path: string) => join(root, path);
      const streamed: string[] = [];
      for await (const part of union.createReadStream(at('lower.txt'))) streamed.push(String(part));
      union.writeFileSync(at('written.txt'), 'written');
      return {
        texts: ['both.txt', 'lower.txt', 'upper.txt'].map((path) => union.readFileSync(at(path), 'utf8')),
        names: [...(union.readdirSync(root) as unknown as string[])].sort(),
        sub: (await promisify(union.readdir)(at('sub'))).sort(),
        promised: await union.promises.readFile(at('lower.txt'), 'utf8'),
        kinds: union
          .readdirSync(at('sub'), { withFileTypes: true })
          .map((entry) => `${entry.name} ${entry.isFile()}`)
          .sort(),
        streamed: streamed.join(''),
        exists: [union.existsSync(at('lower.txt')), union.existsSync(at('none'))],
        writtenTo: [upper.existsSync(at('written.txt')), lower.existsSync(at('written.txt'))],
        size: union.statSync(at('sub/b.txt')).size,
        missing: (() => {
          try {
            return union.readFileSync(at('none'));
          } catch (error) {
            return (error as NodeJS.ErrnoException).code;
          }
        })(),
      };
    });
    expect(answer).toEqual({
      texts: ['upper', 'lower', 'upper'],
      names: ['both.txt', 'lower.txt', 'sub', 'upper.txt', 'written.txt'],
      sub: ['a.txt', 'b.txt'],
      promised: 'lower',
      kinds: ['a.txt true', 'b.txt true'],
      streamed: 'lower',
      exists: [true, false],
      writtenTo: [true, false],
      size: 1,
      missing: 'ENOENT',
    });
  });
});
