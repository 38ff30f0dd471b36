import { StorageError } from '../errors.js';

export function corrupt(what: string): StorageError {
  return new StorageError('corrupt', `The stored filesystem is damaged: ${what}`);
}
