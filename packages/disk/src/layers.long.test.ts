import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FileSystem, openFileSystem } from '@scratchfs/core';
import { mount, observe, overlay, readonly, restrict } from '@scratchfs/core/layers';
import { type CreateOptions, type FileSystemSection, fileSystemSuite } from '@scratchfs/testkit';
import { afterAll, describe, it } from 'vitest';
import { DiskStorage } from './disk-storage.js';

const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'scratchfs-disk-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let made = 0;
const disk = ({ clock, limits }: CreateOptions): Promise<FileSystem> =>
  openFileSystem(new DiskStorage(join(root, String(made++)), { clock, durability: 'process' }), { clock, limits });

interface Layer {
  readonly wrap: (fs: FileSystem, options: CreateOptions) => FileSystem;
  /** Sections that test what the layer implements itself. Undefined: all sections. */
  readonly sections?: readonly FileSystemSection[];
}

/** Sections for layers that pass calls on. The other sections would take as long as without a layer. */
const PASSED_ON: readonly FileSystemSection[] = [
  ...(['links', 'rename', 'copy', 'handles', 'versions', 'checkpoints', 'transactions'] as const),
  ...(['watch', 'streams', 'signals', 'aliasing', 'capabilities'] as const),
];

const layers: Readonly<Record<string, Layer>> = {
  observe: { wrap: (fs) => observe(fs, () => {}), sections: PASSED_ON },
  overlay: { wrap: (fs, { clock }) => overlay(fs, { clock }) },
  'overlay of readonly': { wrap: (fs, { clock }) => overlay(readonly(fs), { clock }) },
  mount: { wrap: (fs) => mount(fs, {}), sections: PASSED_ON },
  restrict: {
    wrap: (fs) => restrict(fs, { check: () => {}, isVisible: () => true, coversTree: () => true }),
    sections: PASSED_ON,
  },
};

const isWhole = process.env['DISK_LAYERS'] !== undefined;

for (const [name, { wrap, sections }] of Object.entries(layers))
  fileSystemSuite({
    name: `FileSystem on a disk through ${name}`,
    test: { describe, it: (title, body) => it(title, body) },
    create: async (options) => wrap(await disk(options), options),
    sections: isWhole ? undefined : sections,
  });
