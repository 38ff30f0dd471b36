import { createHash } from 'node:crypto';
import type { SyncFileSystem } from 'scratchfs';

/** Returns SHA-256 of everything in a filesystem: paths, kinds, modes, owners, times, links and every byte. */
export function fingerprint(fs: SyncFileSystem): string {
  const digest = createHash('sha256');
  for (const entry of [fs.getEntrySync('/'), ...fs.walkSync('/')]) {
    const { path, kind, size, mode, uid, gid, createdAt, modifiedAt, changedAt, accessedAt, links, target } = entry;
    const facts = [path, kind, size, mode, uid, gid, createdAt, modifiedAt, changedAt, accessedAt, links, target];
    digest.update(`${JSON.stringify(facts)}\n`);
    if (kind === 'file') digest.update(fs.readFileSync(path));
  }
  return digest.digest('hex');
}

/** Returns SHA-256 of bytes. */
export function hash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
