import { StorageError } from '@scratchfs/core';

/** Version of the tables. */
export const FORMAT_VERSION = 1;

/** @throws StorageError `version` for tables of a newer version, which stay as they are */
export function checkFormat(version: unknown): void {
  if (Number(version) === FORMAT_VERSION) return;
  throw new StorageError(
    'version',
    `The tables have format ${String(version)}; this version of @scratchfs/sql knows ${FORMAT_VERSION}: update it`,
  );
}
