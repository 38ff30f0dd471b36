import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The folder that `.ci/s3-server.mjs` fetches Ceph into, and keeps. */
export const CEPH_FOLDER =
  process.env.SCRATCHFS_CEPH_FOLDER ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'scratchfs', 'ceph');

/** Whether the gateway can be started: it needs its folder and the rights of root, for chroot. */
export const hasCeph =
  process.platform === 'linux' && process.getuid?.() === 0 && existsSync(join(CEPH_FOLDER, 'usr/bin/radosgw'));
