import { corrupt } from './corrupt.js';

/** Beneath which all objects lie; those of a fork have its id after it. */
export const OBJECTS = 'objects/';
export const FORKS = 'forks/';

/**
 * What the name of an object says. No name is ever used twice.
 *
 *     objects/<epoch>-<commit>-<length of the pages>-<id>
 */
export interface ObjectName {
  /** Of the head that the commit was prepared on. */
  readonly epoch: number;
  /** The number the commit was to have. */
  readonly commit: number;
  /** Bytes of pages at the beginning; contents follow. */
  readonly pages: number;
  readonly id: string;
}

export function printObjectName(prefix: string, { epoch, commit, pages, id }: ObjectName): string {
  return `${prefix}${epoch}-${commit}-${pages}-${id}`;
}

/** Exactly what lies directly beneath them: another filesystem may have a prefix that begins so. */
const OBJECT_NAME = /^(?:objects|forks\/[0-9a-z]{20})\/\d{1,16}-\d{1,16}-\d{1,16}-[0-9a-z]+$/;

/** Whether a name is that of an object of this filesystem or of one of its forks. */
export function isObjectName(name: string): boolean {
  return OBJECT_NAME.test(name);
}

/** @throws StorageError `corrupt` */
export function parseObjectName(name: string): ObjectName {
  const found = /(?:^|\/)(\d{1,16})-(\d{1,16})-(\d{1,16})-([0-9a-z]+)$/.exec(name);
  if (found === null) throw corrupt(`${JSON.stringify(name.slice(0, 100))} is no name of an object`);
  return { epoch: Number(found[1]), commit: Number(found[2]), pages: Number(found[3]), id: found[4] as string };
}
