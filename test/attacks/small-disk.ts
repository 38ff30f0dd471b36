import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

/** Mounts a disk of 1 MB, which only this user can read. */
export function mountSmallDisk(place: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=700', 'tmpfs', place], { stdio: 'ignore' });
}

export function unmountSmallDisk(place: string): void {
  execFileSync('umount', ['-l', place]);
}

/** Returns the reason why no small disk can be mounted; undefined if one can. */
export function whyNoDisk(): string | undefined {
  if (!isRoot) return 'only root may mount';
  const place = mkdtempSync(join(tmpdir(), 'scratchfs-mount-'));
  try {
    mountSmallDisk(place);
    unmountSmallDisk(place);
    return undefined;
  } catch {
    return 'mounting is not allowed here';
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
