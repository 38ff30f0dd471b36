import { FsError } from '../errors.js';
import type { Checkpoint } from '../file-system.js';

/** Returns the id of a checkpoint, or text (an id or a name) as it is. @throws TypeError for any other value */
export function wantedCheckpoint(checkpoint: Checkpoint | string): string {
  const wanted = typeof checkpoint === 'string' ? checkpoint : checkpoint?.id;
  if (typeof wanted !== 'string') throw new TypeError('A checkpoint, its id or its name is needed');
  return wanted;
}

export function noCheckpoint(syscall: string, wanted: string): FsError {
  const hint =
    'This filesystem holds no such checkpoint: it was dropped, or belongs to another one, which can fork({ from })';
  return new FsError('ENOENT', { syscall, path: wanted, hint });
}
