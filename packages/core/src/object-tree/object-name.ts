import { corrupt } from './corrupt.js';

/** Prefix of the names of the filesystem's objects, those of its forks excepted. */
export const OBJECTS = 'objects/';
/** Prefix of the names of a fork's objects; the fork's id follows. */
export const FORKS = 'forks/';

/** Greatest size in bytes of a stored object, if the store declares none. */
export const DEFAULT_MAX_OBJECT_BYTES = 8 * 2 ** 20;
/** Least value of `maxObjectBytes`: a head must fit into one object, and reading many parts takes many requests. */
export const MIN_MAX_OBJECT_BYTES = 65_536;

/**
 * The fields of an object's name. No name is ever reused. The first form is for parts of the default size.
 *
 *       objects/<epoch>-<commit>-<length of the pages>-<id>
 *       objects/<epoch>-<commit>-<length of the pages>-<id>-<part bytes>
 */
export interface ObjectName {
  /** Epoch of the head on which the commit was prepared. */
  readonly epoch: number;
  /** The commit's intended number. */
  readonly commit: number;
  /** Bytes of pages at the start; contents follow. */
  readonly pages: number;
  readonly id: string;
  /**
   * Bytes per part. A larger object is stored in parts: the first has the name of the object, the others have that
   * name, a dot, and their number from 1 on.
   */
  readonly partBytes: number;
}

export function printObjectName(prefix: string, { epoch, commit, pages, id, partBytes }: ObjectName): string {
  const name = `${prefix}${epoch}-${commit}-${pages}-${id}`;
  return partBytes === DEFAULT_MAX_OBJECT_BYTES ? name : `${name}-${partBytes}`;
}

/** Returns the name under which a part of an object is stored. */
export function partName(object: string, part: number): string {
  return part === 0 ? object : `${object}.${part}`;
}

/** Returns the name of the object to which a stored part belongs. */
export function objectOfPart(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? name : name.slice(0, dot);
}

/**
 * Matches only objects directly under the prefixes: the keys of another filesystem in the same store may begin with
 * them.
 */
const STORED_NAME =
  /^(?:objects|forks\/[0-9a-z]{20})\/\d{1,16}-\d{1,16}-\d{1,16}-[0-9a-z]+(?:-[1-9]\d{0,15})?(?:\.[1-9]\d{0,8})?$/;

/** Reports whether a name is that of an object, or a part of one, of this filesystem or of one of its forks. */
export function isObjectName(name: string): boolean {
  return STORED_NAME.test(name);
}

/** Parses the name of an object or of a part. @throws StorageError `corrupt` */
export function parseObjectName(name: string): ObjectName {
  const found = /(?:^|\/)(\d{1,16})-(\d{1,16})-(\d{1,16})-([0-9a-z]+)(?:-([1-9]\d{0,15}))?(?:\.\d{1,9})?$/.exec(name);
  if (found === null) throw corrupt(`${JSON.stringify(name.slice(0, 100))} is not the name of an object`);
  const [, epoch, commit, pages, id, partBytes] = found;
  if (partBytes !== undefined && Number(partBytes) < MIN_MAX_OBJECT_BYTES)
    throw corrupt('it has objects in tiny parts');
  return {
    epoch: Number(epoch),
    commit: Number(commit),
    pages: Number(pages),
    id: id as string,
    partBytes: partBytes === undefined ? DEFAULT_MAX_OBJECT_BYTES : Number(partBytes),
  };
}
