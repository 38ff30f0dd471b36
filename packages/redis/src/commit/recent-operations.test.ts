import { describe, expect, it } from 'vitest';
import { RecentOperations } from './recent-operations.js';

type Operations = RecentOperations<{ content: string }, string>;

const create = (): Operations => new RecentOperations((one) => typeof one === 'object');
const others = (operations: Operations, count: number): void => {
  for (let i = 0; i < count; i++) {
    const id = `other ${Math.random()}`;
    operations.add(id, { content: id });
    operations.end(id, 'ok');
  }
};

describe('RecentOperations', () => {
  it('keeps an operation pending until it ends, and then its first result', () => {
    const operations = create();
    operations.add('a', { content: 'a' });
    expect(operations.pending('a')).toEqual({ content: 'a' });
    expect(operations.result('a')).toBeUndefined();
    expect(operations.end('a', 'ok')).toBe('ok');
    expect(operations.end('a', 'absent')).toBe('ok');
    expect(operations.pending('a')).toBeUndefined();
    expect(operations.result('a')).toBe('ok');
    expect(operations.get('b')).toBeUndefined();
  });

  it('forgets an operation after some thousand others, and reports that it has forgotten', () => {
    const operations = create();
    operations.add('a', { content: 'a' });
    operations.end('a', 'ok');
    others(operations, 5_000);
    expect(operations.result('a')).toBe('ok');
    expect(operations.hasForgotten).toBe(false);
    others(operations, 5_000);
    expect(operations.get('a')).toBeUndefined();
    expect(operations.hasForgotten).toBe(true);
  });

  it('keeps pending operations', () => {
    const operations = create();
    operations.add('a', { content: 'a' });
    others(operations, 40_000);
    expect(operations.pending('a')).toEqual({ content: 'a' });
    expect(operations.end('a', 'ok')).toBe('ok');
    others(operations, 15_000);
    expect(operations.get('a')).toBeUndefined();
  });

  it('keeps a result for some thousand operations after the end of a slow one', () => {
    for (const [before, after] of [
      [0, 5_000],
      [5_000, 4_999],
      [9_998, 5_000],
      [9_999, 5_000],
      [14_999, 5_000],
    ] as const) {
      const operations = create();
      operations.add('a', { content: 'a' });
      others(operations, before);
      operations.end('a', 'ok');
      others(operations, after);
      expect(operations.result('a'), `${before}`).toBe('ok');
    }
  });
});
