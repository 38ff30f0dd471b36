import { openFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { expect, it } from 'vitest';
import { idOf } from '../objects/git-object.js';
import { type Primitives, portablePrimitives } from '../primitives.js';
import { PackReader } from './pack-reader.js';
import { writePack } from './pack-writer.js';

it('concurrent reads of one object leave the cache in use', async () => {
  let inflated = 0;
  const primitives: Primitives = {
    ...portablePrimitives,
    inflate: (bytes, limit) => {
      inflated++;
      return portablePrimitives.inflate(bytes, limit);
    },
  };
  const object = { type: 'blob', body: new Uint8Array(2 ** 20) } as const;
  const id = idOf(object, 'sha1', primitives);
  const { pack, index } = await writePack([{ ...object, id }], 'sha1', primitives);
  const fs = openFileSystem(new MemoryStorage());
  await fs.writeFile('/p.pack', pack);
  await fs.writeFile('/p.idx', index);
  const reader = await PackReader.open(fs, '/p', { format: 'sha1', primitives, maxObjectBytes: 2 ** 24 });
  const read = () => reader.read(id, async () => undefined);
  await Promise.all(Array.from({ length: 20 }, read));
  await read();
  inflated = 0;
  expect((await read())?.body.length).toBe(object.body.length);
  expect(inflated).toBe(0);
  await reader.close();
});
