import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'scratchfs');
/** Both need the rights of root, for chroot. */
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

/** The folders that `.ci/s3-server.mjs` fetches servers into, and keeps. */
export const CEPH_FOLDER = process.env.SCRATCHFS_CEPH_FOLDER ?? join(cache, 'ceph');
export const MOTO_FOLDER = join(cache, 'moto');

/** Which server the tests are to have, of those that can be started here. */
export const serverName: 'ceph' | 'moto' | undefined =
  process.env.SCRATCHFS_TEST_S3_SERVER === 'moto'
    ? found('moto', join(MOTO_FOLDER, 'usr/bin/python3'))
    : found('ceph', join(CEPH_FOLDER, 'usr/bin/radosgw'));

function found<T>(name: T, program: string): T | undefined {
  return isRoot && existsSync(program) ? name : undefined;
}
