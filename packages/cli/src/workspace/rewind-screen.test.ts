import { describe, expect, it } from 'vitest';
import { widthOf } from '../terminal/columns.js';
import { keysOf } from '../terminal/screen.js';
import { Style } from '../terminal/style.js';
import { type RewindChanges, RewindScreen } from './rewind-screen.js';

const flushed = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

function screenOf(load: (id: number) => Promise<RewindChanges>, fail = (_: unknown): void => {}): RewindScreen {
  const title = (id: number): string => `After ${id}: 日本 ${'x'.repeat(100)} end`;
  const states = [3, 2, 1, 0].map((id) => ({ id, text: `${id}  日本 ${'x'.repeat(100)}`, title: title(id) }));
  return new RewindScreen({ title: 'Title', states, style: new Style(false), load, redraw: () => {}, fail });
}

describe('RewindScreen', () => {
  it('fits every size, with the changes beside or under the list', async () => {
    const screen = screenOf(async () => ({ sum: 'sum', lines: ['+'.repeat(300), '日本'.repeat(100)] }));
    await flushed();
    for (const columns of [1, 20, 80, 89, 90, 300])
      for (const rows of [1, 3, 10, 60]) {
        const lines = screen.lines({ columns, rows });
        expect(lines.length).toBeLessThanOrEqual(Math.max(rows, 4));
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(Math.max(columns, 2));
      }
  });

  it.each([80, 100])('shows the whole title of the chosen state and the sum with %i columns', async (columns) => {
    const sum = '1 path changed, 1,000 lines added, 1,000 lines removed, and no word of that is cut off';
    const screen = screenOf(async () => ({ sum, lines: ['+one'] }));
    await flushed();
    const lines = screen.lines({ columns, rows: 30 }).map((line) => line.replace(/^.* \| /, ''));
    const text = lines.slice(columns < 90 ? lines.findIndex((line) => line.startsWith('---')) : 1).join('');
    expect(text.replaceAll(' ', '')).toContain(`After2:日本${'x'.repeat(100)}end${sum.replaceAll(' ', '')}+one`);
  });

  it('loads one state at a time, the chosen one last, and agrees to nothing that is not shown', async () => {
    const asked: number[] = [];
    const waiting: (() => void)[] = [];
    const screen = screenOf((id) => {
      asked.push(id);
      return new Promise((resolve) => waiting.push(() => resolve({ sum: `state ${id}`, lines: [] })));
    });
    const size = { columns: 80, rows: 24 };
    for (const key of ['down', 'down', 'enter']) screen.key(key, size);
    expect(screen.key('y', size)).toBeUndefined();
    for (let step = 0; step < 2; step++) {
      waiting.shift()?.();
      await flushed();
    }
    expect(asked).toEqual([2, 0]);
    expect(screen.lines(size).join('\n')).toContain('state 0');
    expect(screen.key('y', size)).toBe(0);
  });

  it('fails with the error of loading', async () => {
    const errors: unknown[] = [];
    screenOf(
      () => Promise.reject(new Error('moved')),
      (error) => errors.push(error),
    );
    await flushed();
    expect(errors).toEqual([new Error('moved')]);
  });
});

describe('keysOf()', () => {
  it('names the keys that terminals send, one or many at a time', () => {
    expect(keysOf('\u001b[A\u001bOB\u001b[5~jA\r\u001b[1;5Zq \u0003\u001b')).toEqual([
      ...['up', 'down', 'page-up', 'j', 'A', 'enter', 'q', 'space', 'interrupt', 'escape'],
    ]);
  });
});
