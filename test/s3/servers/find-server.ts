import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'scratchfs');
/** Both servers need root for chroot. */
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

/** Folders in which `.ci/s3-server.mjs` keeps the servers that it has downloaded. */
export const CEPH_FOLDER = process.env.SCRATCHFS_CEPH_FOLDER ?? join(cache, 'ceph');
export const MOTO_FOLDER = join(cache, 'moto');

/** The server to test on; undefined if none can be started on this machine. */
export const serverName: 'ceph' | 'moto' | undefined =
  process.env.SCRATCHFS_TEST_S3_SERVER === 'moto'
    ? found('moto', join(MOTO_FOLDER, 'usr/bin/python3'))
    : found('ceph', join(CEPH_FOLDER, 'usr/bin/radosgw'));

function found<T>(name: T, program: string): T | undefined {
  return isRoot && existsSync(program) ? name : undefined;
}
