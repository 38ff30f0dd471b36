import { corrupt } from './corrupt.js';

/** Prefix of the names of all objects of the filesystem. */
export const OBJECTS = 'objects/';
/** Prefix of the names of a fork's objects; the fork's id follows. */
export const FORKS = 'forks/';

/**
 * The parts of an object's name. No name is ever reused.
 *
 *       objects/<epoch>-<commit>-<length of the pages>-<id>
 */
export interface ObjectName {
  /** Epoch of the head on which the commit was prepared. */
  readonly epoch: number;
  /** The commit's intended number. */
  readonly commit: number;
  /** Bytes of pages at the start; contents follow. */
  readonly pages: number;
  readonly id: string;
}

export function printObjectName(prefix: string, { epoch, commit, pages, id }: ObjectName): string {
  return `${prefix}${epoch}-${commit}-${pages}-${id}`;
}

/**
 * Matches only objects directly under the prefixes, because the prefix of another filesystem may begin with this one.
 */
const OBJECT_NAME = /^(?:objects|forks\/[0-9a-z]{20})\/\d{1,16}-\d{1,16}-\d{1,16}-[0-9a-z]+$/;

/** Reports whether a name is that of an object of this filesystem or of one of its forks. */
export function isObjectName(name: string): boolean {
  return OBJECT_NAME.test(name);
}

/** @throws StorageError `corrupt` */
export function parseObjectName(name: string): ObjectName {
  const found = /(?:^|\/)(\d{1,16})-(\d{1,16})-(\d{1,16})-([0-9a-z]+)$/.exec(name);
  if (found === null) throw corrupt(`${JSON.stringify(name.slice(0, 100))} is not the name of an object`);
  return { epoch: Number(found[1]), commit: Number(found[2]), pages: Number(found[3]), id: found[4] as string };
}
