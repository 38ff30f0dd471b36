import { describe, expect, it } from 'vitest';
import { Sequences } from './sequences.js';

describe('Sequences', () => {
  it('acknowledges the lowest open number and the settled ones below it', () => {
    const sequences = new Sequences(() => 0);
    const [one, ...others] = Array.from({ length: 17 }, () => sequences.next()) as [number, ...number[]];
    const last = sequences.next();
    for (const other of others) sequences.settle(other);
    expect(sequences.acknowledge().acknowledged).toMatchObject({ floor: 0, settled: '' });
    sequences.settle(one);
    expect(sequences.acknowledge().acknowledged).toMatchObject({ floor: last, settled: [one, ...others].join(' ') });
    expect(sequences.acknowledge().acknowledged).toMatchObject({ floor: last, settled: '' });
  });

  it('acknowledges nothing until enough has settled, and repeats what did not arrive', () => {
    const sequences = new Sequences(() => 0);
    for (let i = 1; i <= 15; i++) sequences.settle(sequences.next());
    expect(sequences.acknowledge().acknowledged).toMatchObject({ floor: 0, settled: '' });
    sequences.settle(sequences.next());
    const first = sequences.acknowledge();
    expect(first.acknowledged.floor).toBe(17);
    first.restore();
    expect(sequences.acknowledge().acknowledged).toMatchObject({ floor: 17, settled: first.acknowledged.settled });
  });

  it('abandons an operation that stays unsettled for a minute', () => {
    let now = 0;
    const sequences = new Sequences(() => now);
    sequences.failed(sequences.next());
    for (let i = 0; i < 16; i++) sequences.settle(sequences.next());
    sequences.next();
    expect(sequences.acknowledge().acknowledged).toMatchObject({ floor: 0, settled: '' });
    now = 60_001;
    const { floor, settled } = sequences.acknowledge().acknowledged;
    expect(floor).toBe(18);
    const inOrder = settled
      .split(' ')
      .map(Number)
      .sort((a, b) => a - b);
    expect(inOrder).toEqual(Array.from({ length: 17 }, (_, i) => i + 1));
  });

  it('acknowledges at most a thousand numbers in a request, each once', () => {
    const sequences = new Sequences(() => 0);
    const first = sequences.next();
    for (let i = 0; i < 2_499; i++) {
      sequences.settle(sequences.next());
      expect(sequences.acknowledge().acknowledged.settled).toBe('');
    }
    sequences.settle(first);
    const told = [1, 2, 3].map(() => sequences.acknowledge().acknowledged.settled.split(' ').map(Number));
    expect(told.map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
    expect(new Set(told.flat()).size).toBe(2_500);
    expect(sequences.acknowledge().acknowledged).toMatchObject({ floor: 2_501, settled: '' });
  });
});
