import { describe, expect, it } from 'vitest';
import { FrameSplitter, wordsOf } from './frames.js';

const frames = [
  '*2\r\n$3\r\nGET\r\n$2\r\na\n\r\n',
  '+OK\r\n',
  '-ERR no\r\n',
  ':42\r\n',
  '$-1\r\n',
  '*0\r\n',
  '*-1\r\n',
  '*2\r\n*1\r\n:1\r\n$0\r\n\r\n',
  '%1\r\n+a\r\n#t\r\n',
  '|1\r\n+ttl\r\n:3\r\n+value\r\n',
  '>2\r\n+message\r\n$1\r\nx\r\n',
  '_\r\n',
];

describe('The stream of a connection', () => {
  it('is split into the same frames, wherever it is cut', () => {
    const stream = Buffer.from(frames.join(''));
    for (let size = 1; size <= stream.length; size++) {
      const splitter = new FrameSplitter();
      const found: string[] = [];
      for (let at = 0; at < stream.length; at += size)
        found.push(...splitter.push(stream.subarray(at, at + size)).map(String));
      expect(found).toEqual(frames);
      expect(splitter.rest).toHaveLength(0);
    }
  });

  it('keeps the bytes of an incomplete frame', () => {
    const splitter = new FrameSplitter();
    expect(splitter.push(Buffer.from('+OK\r\n$5\r\nhel'))).toHaveLength(1);
    expect(splitter.rest.toString()).toBe('$5\r\nhel');
  });

  it('yields the words of a command', () => {
    expect(wordsOf(Buffer.from('*3\r\n$3\r\nSET\r\n$1\r\na\r\n$4\r\n1\r\n2\r\n'))).toEqual(['SET', 'a', '1\r\n2']);
  });
});
