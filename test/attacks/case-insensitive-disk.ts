import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A mounted exFAT disk: it ignores case, keeps it in listings, and has no links. */
export interface CaseInsensitiveDisk {
  readonly path: string;
  unmount(): void;
}

const run = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: 'utf8' }).trim();

/** Mounts a new disk of 64 MB. All files have mode 644 and all directories 755, whatever is set. */
export function mountCaseInsensitiveDisk(): CaseInsensitiveDisk {
  const top = mkdtempSync(join(tmpdir(), 'scratchfs-exfat-'));
  const [image, path] = [join(top, 'image'), join(top, 'disk')];
  let device: string | undefined;
  const unmount = (): void => {
    try {
      if (existsSync(join(path, MARK))) run('umount', '-l', path);
    } finally {
      if (device !== undefined) run('losetup', '-d', device);
      rmSync(top, { recursive: true, force: true });
    }
  };
  try {
    mkdirSync(path);
    writeFileSync(image, '');
    truncateSync(image, 64_000_000);
    run('mkfs.exfat', image);
    device = run('losetup', '--find', '--show', image);
    run('mount.exfat-fuse', '-o', 'fmask=133,dmask=022', device, path);
    writeFileSync(join(path, MARK), '');
    return { path, unmount };
  } catch (error) {
    unmount();
    throw error;
  }
}

/** Name of a file that only a mounted disk has. */
const MARK = 'mounted';

/** Returns the reason why no such disk can be mounted; undefined if one can. */
export function whyNoCaseInsensitiveDisk(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux may mount';
  if (!existsSync('/dev/fuse')) return 'there is no /dev/fuse';
  for (const program of ['mount.exfat-fuse', 'mkfs.exfat', 'losetup']) {
    try {
      run('which', program);
    } catch {
      return `there is no ${program}`;
    }
  }
  try {
    mountCaseInsensitiveDisk().unmount();
    return undefined;
  } catch {
    return 'mounting is not allowed here';
  }
}
