import { HistoryError } from '../errors.js';
import { isObjectId, type ObjectFormat, type ObjectId } from '../object-id.js';
import { checkMessage, completed, splitObject } from './commit.js';
import type { ObjectType } from './git-object.js';
import { decodeSignature, encodeSignature, type Signature } from './person.js';

/** An annotated tag: a name for an object, with its author and a message. */
export interface Tag {
  readonly object: ObjectId;
  readonly type: ObjectType;
  readonly name: string;
  /** Undefined if the tag has none, as very old tags do not. */
  readonly tagger: Signature | undefined;
  readonly message: string;
}

const encoder = new TextEncoder();

/** Encodes a tag object as `git mktag` accepts it. */
export function encodeTag({ object, type, name, tagger, message }: Tag): Uint8Array {
  checkMessage(message);
  const who = tagger === undefined ? '' : `tagger ${encodeSignature(tagger)}\n`;
  return encoder.encode(`object ${object}\ntype ${type}\ntag ${name}\n${who}\n${completed(message)}`);
}

export function decodeTag(body: Uint8Array, id: ObjectId, format: ObjectFormat): Tag {
  const { headers, message } = splitObject(body);
  const of = new Map(headers);
  const [object, type, name, tagger] = ['object', 'type', 'tag', 'tagger'].map((key) => of.get(key));
  if (object === undefined || !isObjectId(object, format) || type === undefined || name === undefined)
    throw new HistoryError('corrupt', `Tag ${id} is not in git's format`, { id });
  const signature = tagger === undefined ? undefined : decodeSignature(tagger);
  return { object, type: type as ObjectType, name, tagger: signature, message };
}
