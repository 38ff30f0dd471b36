import { StorageError } from '@scratchfs/core';

/** Version of the table layout. */
export const FORMAT_VERSION = 1;

/** @throws StorageError `version` unless the tables have the version that this package knows */
export function checkFormat(version: unknown): void {
  if (Number(version) === FORMAT_VERSION) return;
  throw new StorageError(
    'version',
    `The tables have format ${String(version)}; this version of @scratchfs/sql knows ${FORMAT_VERSION}: update it`,
  );
}
