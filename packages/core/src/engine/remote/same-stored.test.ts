import { expect, it } from 'vitest';
import { FileNode, Unloaded } from '../../tree/node.js';
import { rootMeta } from '../defaults.js';
import { isSameContent } from './same-stored.js';

function file(data: Unloaded): FileNode {
  const node = new FileNode('f', rootMeta(0));
  node.data = data;
  node.size = data.size;
  return node;
}

it('isSameContent() is false for stored content that was changed here, even of the same version and size', () => {
  const stored = new Unloaded({ path: '/f', id: 'f' }, 1, 3);
  const changed = stored.with({ offset: 0, bytes: new Uint8Array([1]) });
  expect(isSameContent(file(stored), file(new Unloaded({ path: '/f', id: 'f' }, 1, 3)))).toBe(true);
  expect(isSameContent(file(stored), file(changed))).toBe(false);
  expect(isSameContent(file(changed), file(stored))).toBe(false);
});
