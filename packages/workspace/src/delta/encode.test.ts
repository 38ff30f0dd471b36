import { describe, expect, it } from 'vitest';
import { type DeltaNode, emptyHead, type Head } from './delta-node.js';
import { decodeHead, encodeHead } from './encode.js';

const meta = { mode: 0o755, uid: 0, gid: 0, atime: 1, mtime: 2, ctime: 3, birthtime: 4 };
const file: DeltaNode = { id: 'f', kind: 'file', version: '1', meta, content: { hash: 'h', size: 1 } };

describe('a head in the store', () => {
  it('comes back as it was, however deep it is and whatever the names are', () => {
    const base = { path: '/x', key: 'k', state: null, at: 5 };
    let deep: DeltaNode = {
      id: 'd',
      kind: 'directory',
      version: '1',
      meta,
      names: new Map([['file', { node: file }]]),
    };
    for (let i = 0; i < 5_000; i++)
      deep = { id: i, kind: 'directory', version: '1', names: new Map([['d', { node: deep, base }]]) };
    const names = new Map([
      ['__proto__', { node: file, base }],
      ['deep', { node: deep }],
      ['empty', { node: { id: 'e', kind: 'directory', version: '2', names: new Map() } as DeltaNode }],
      ['link', { node: null, link: 'f' }],
      ['removed', { node: null, base }],
    ]);
    const { root } = emptyHead({ id: 'r', meta });
    const head: Head = { root: { ...root, names }, inodes: new Map([['f', file]]) };
    const again = decodeHead(JSON.parse(JSON.stringify(encodeHead(head))));
    expect(encodeHead(again)).toEqual(encodeHead(head));
    expect([...(again.root.names?.keys() ?? [])]).toEqual([...names.keys()]);
    expect(again.root.names?.get('removed')).toEqual({ node: null, base });
    let [depth, node] = [0, again.root.names?.get('deep')?.node];
    for (; node?.names?.has('d'); depth++) node = node.names.get('d')?.node;
    expect([depth, node?.names?.get('file')?.node]).toEqual([5_000, file]);
  });
});
