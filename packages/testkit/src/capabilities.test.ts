import { asyncForm, type FileSystem, openFileSystem } from '@scratchfs/core';
import { describe, it } from 'vitest';
import { memoryFileSystem, memoryStorage } from './memory-file-system.js';
import { checkCapabilities, LAYERS } from './suite/capabilities.js';
import { manualClock } from './suite/context.js';

const clock = manualClock().read;
const LOWER: Readonly<Record<string, () => FileSystem | Promise<FileSystem>>> = {
  memory: () => memoryFileSystem({ clock }),
  'asynchronous memory': () => openFileSystem(asyncForm(memoryStorage({ clock }), { clock }), { clock }),
};

describe('capabilities', () => {
  for (const [lower, create] of Object.entries(LOWER)) {
    for (const [name, layer] of Object.entries(LAYERS)) {
      it(`are true through every layer over ${name} on ${lower}`, async () => {
        for (const [outerName, outer] of Object.entries(LAYERS)) {
          await checkCapabilities(outer(layer(await create()))).catch((error: unknown) => {
            throw new Error(`${outerName} over ${name} on ${lower}`, { cause: error });
          });
        }
      });
    }
  }
});
