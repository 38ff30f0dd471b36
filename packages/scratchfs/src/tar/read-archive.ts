import { checkName, isFsError, type Limits } from '@scratchfs/core';
import { limitError } from '@scratchfs/core/internal';
import { createTarDecoder, type ParsedTarEntry, type TarHeader } from 'modern-tar';
import { archiveError } from './archive-error.js';
import { fromSeconds } from './times.js';
import { TypeFlags } from './type-flags.js';
import { unzipped } from './unzipped.js';

/** A checked entry of an archive. `names` is its path relative to the destination. */
export interface ArchiveEntry {
  readonly kind: 'file' | 'directory' | 'symlink' | 'link';
  readonly names: readonly string[];
  readonly content: Uint8Array;
  /** Target of a symlink. */
  readonly target: string;
  /** For a hard link: the path of the entry that it links to, as names. */
  readonly first: readonly string[];
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtime: number;
}

export interface ReadOptions {
  readonly strip: number;
  readonly limits: Limits;
  readonly signal: AbortSignal | undefined;
}

const EMPTY = new Uint8Array(0);
const MAX_ID = 2 ** 32 - 1;
/** Maximum number of entries of an archive for a filesystem without `maxNodeCount`. */
const DEFAULT_MAX_ENTRIES = 1_000_000;
/** The latest time that a Date can hold, in epoch milliseconds. */
const MAX_TIME_MS = 8.64e15;

/** Reads a whole archive and checks every name in it, before anything is unpacked. */
export async function readArchive(tar: ReadableStream<Uint8Array>, options: ReadOptions): Promise<ArchiveEntry[]> {
  const { signal } = options;
  const flags = new TypeFlags();
  const looked = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError('The stream of an archive must give Uint8Arrays');
      flags.look(chunk);
      controller.enqueue(chunk);
    },
  });
  const stop = new AbortController();
  // The reader at the end of the pipe sees every failure.
  unzipped(tar)
    .pipeTo(looked.writable, { signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]) })
    .catch(() => {});
  const reader = looked.readable.pipeThrough(createTarDecoder({ strict: true })).getReader();
  try {
    return await readEntries(reader, flags, options);
  } catch (error) {
    stop.abort(error);
    await reader.cancel(error).catch(() => {});
    signal?.throwIfAborted();
    if (error instanceof TypeError || isFsError(error)) throw error;
    throw archiveError(undefined, 'The archive is damaged or not a tar archive', error);
  }
}

async function readEntries(
  reader: ReadableStreamDefaultReader<ParsedTarEntry>,
  flags: TypeFlags,
  { strip, limits, signal }: ReadOptions,
): Promise<ArchiveEntry[]> {
  const entries: ArchiveEntry[] = [];
  const { maxNodeCount = DEFAULT_MAX_ENTRIES } = limits;
  // An archive may replace an entry by a later one of the same name.
  const paths = new Set<string>();
  let room = limits.maxTotalSize ?? Number.POSITIVE_INFINITY;
  for (;;) {
    const { done, value } = await reader.read();
    signal?.throwIfAborted();
    if (done) return entries;
    const { header, body } = value;
    flags.checkNext(header);
    checkSize(header, room, limits);
    const content = await readBody(body, header.size);
    room -= content.length;
    const entry = checkEntry(header, content, strip);
    if (entry === undefined) continue;
    paths.add(entry.names.join('/'));
    if (paths.size > maxNodeCount)
      throw limitError('ENOSPC', 'maxNodeCount', 0, paths.size, maxNodeCount, 'untar', header.name);
    entries.push(entry);
  }
}

/** Applies limits before memory is used: an entry that exceeds them is not read. */
function checkSize({ name, size, type }: TarHeader, room: number, limits: Limits): void {
  if (type !== 'file' && type !== undefined) return;
  const { maxFileSize, maxTotalSize } = limits;
  if (maxFileSize !== undefined && size > maxFileSize)
    throw limitError('EFBIG', 'maxFileSize', 0, size, maxFileSize, 'untar', name);
  if (maxTotalSize !== undefined && size > room) {
    const used = maxTotalSize - room;
    throw limitError('ENOSPC', 'maxTotalSize', used, used + size, maxTotalSize, 'untar', name);
  }
}

async function readBody(body: ReadableStream<Uint8Array>, size: number): Promise<Uint8Array> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.length;
  }
  if (length !== size) throw new Error('The archive is cut');
  if (chunks.length < 2) return chunks[0] ?? EMPTY;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function checkEntry(header: TarHeader, content: Uint8Array, strip: number): ArchiveEntry | undefined {
  const { name, type = 'file', linkname = '', pax = {} } = header;
  if (type !== 'file' && type !== 'directory' && type !== 'symlink' && type !== 'link') {
    throw archiveError(name, `A ${type} cannot be unpacked`);
  }
  if (Object.keys(pax).some((key) => key.startsWith('GNU.sparse.'))) {
    throw archiveError(name, 'Sparse files are not supported');
  }
  if (name.endsWith('/') && type !== 'directory')
    throw archiveError(name, 'Only the name of a directory ends with a slash');
  const names = checkNames(name, name, strip);
  const first = type === 'link' ? checkNames(linkname, name, strip) : [];
  if (names.length === 0) return undefined;
  if (type === 'link' && first.length === 0) throw archiveError(name, 'What the link leads to is not unpacked');
  const { uid = 0, gid = 0, mode = 0 } = header;
  if (!isId(uid) || !isId(gid)) throw archiveError(name, 'An owner is out of range');
  const mtime = pax['mtime'] === undefined ? header.mtime?.getTime() : fromSeconds(pax['mtime']);
  if (mtime === undefined || !(Math.abs(mtime) <= MAX_TIME_MS)) throw archiveError(name, 'Its time is out of range');
  return { kind: type, names, content, target: linkname, first, mode: mode & 0o7777, uid, gid, mtime };
}

/**
 * Returns the names in a path of an archive, without leading `.`, a final slash and the first `strip` names. Everything
 * else is accepted or refused as it is; nothing is resolved.
 */
function checkNames(path: string, entry: string, strip: number): string[] {
  if (path.startsWith('/')) throw archiveError(entry, 'A path in an archive must not be absolute');
  const names = (path.endsWith('/') ? path.slice(0, -1) : path).split('/');
  while (names[0] === '.') names.shift();
  for (const name of names) {
    try {
      checkName(name);
    } catch (cause) {
      throw archiveError(entry, `The name ${JSON.stringify(name.slice(0, 100))} is not allowed`, cause);
    }
  }
  return names.slice(strip);
}

function isId(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= MAX_ID;
}
