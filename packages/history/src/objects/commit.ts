import { HistoryError } from '../errors.js';
import { isObjectId, type ObjectFormat, type ObjectId } from '../object-id.js';
import { decodeSignature, encodeSignature, type Signature } from './person.js';

/** A decoded commit. */
export interface Commit {
  readonly id: ObjectId;
  readonly tree: ObjectId;
  readonly parents: readonly ObjectId[];
  /** The first parent. */
  readonly parent: ObjectId | undefined;
  readonly author: Signature;
  readonly committer: Signature;
  /** The message as it is stored, usually with a line end, which git adds. */
  readonly message: string;
}

export interface NewCommit {
  readonly tree: ObjectId;
  readonly parents: readonly ObjectId[];
  readonly author: Signature;
  readonly committer: Signature;
  readonly message: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Encodes a commit object as `git commit-tree -m` does: a message that is not empty ends with a line end. */
export function encodeCommit({ tree, parents, author, committer, message }: NewCommit): Uint8Array {
  checkMessage(message);
  const lines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`)];
  lines.push(`author ${encodeSignature(author)}`, `committer ${encodeSignature(committer)}`);
  return encoder.encode(`${lines.join('\n')}\n\n${completed(message)}`);
}

/** Decodes a commit object. Headers that {@link Commit} does not have, such as signatures, are ignored. */
export function decodeCommit(body: Uint8Array, id: ObjectId, format: ObjectFormat): Commit {
  const { headers, message } = splitObject(body);
  const parents: ObjectId[] = [];
  let at = 0;
  const header = (name: string): string | undefined => {
    if (headers[at]?.[0] !== name) return undefined;
    at += 1;
    return headers[at - 1]?.[1] as string;
  };
  const idIn = (text: string | undefined): ObjectId => {
    if (text === undefined || !isObjectId(text, format))
      throw new HistoryError('corrupt', `Commit ${id} is not in git's format`, { id });
    return text;
  };
  const tree = idIn(header('tree'));
  for (let parent = header('parent'); parent !== undefined; parent = header('parent')) parents.push(idIn(parent));
  const author = header('author');
  const committer = header('committer');
  if (author === undefined || committer === undefined)
    throw new HistoryError('corrupt', `Commit ${id} does not say who made it`, { id });
  return {
    id,
    tree,
    parents,
    parent: parents[0],
    author: decodeSignature(author),
    committer: decodeSignature(committer),
    message,
  };
}

interface SplitObject {
  readonly headers: [name: string, value: string][];
  readonly message: string;
}

/**
 * Splits an object into header lines (a line that begins with a space continues the one before) and the text after the
 * empty line. The whole object is decoded as UTF-8, or by the header `encoding` if this platform supports it.
 */
export function splitObject(body: Uint8Array): SplitObject {
  const split = splitText(decoder.decode(body));
  const encoding = split.headers.find(([name]) => name === 'encoding')?.[1];
  const other = encoding === undefined ? undefined : decoderOf(encoding);
  return other === undefined ? split : splitText(other.decode(body));
}

function decoderOf(encoding: string): TextDecoder | undefined {
  try {
    return new TextDecoder(encoding);
  } catch {
    return undefined;
  }
}

function splitText(text: string): SplitObject {
  const end = text.indexOf('\n\n');
  const headers: [string, string][] = [];
  for (const line of (end < 0 ? text.replace(/\n$/, '') : text.slice(0, end)).split('\n')) {
    const last = headers.at(-1);
    const space = line.indexOf(' ');
    if (space === 0 && last !== undefined) last[1] += `\n${line.slice(1)}`;
    else headers.push([line.slice(0, Math.max(0, space)), line.slice(space + 1)]);
  }
  return { headers, message: end < 0 ? '' : text.slice(end + 2) };
}

export function checkMessage(message: string): void {
  if (typeof message !== 'string') throw new TypeError('A message must be a string');
  if (message.includes('\0') || !message.isWellFormed())
    throw new TypeError('A message must be well-formed text without NUL');
}

export function completed(message: string): string {
  return message === '' || message.endsWith('\n') ? message : `${message}\n`;
}
