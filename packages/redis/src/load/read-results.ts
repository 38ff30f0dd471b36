import {
  compareNames,
  joinPath,
  type Listing,
  type LoadRequest,
  type LoadResult,
  type NodeAddress,
} from '@scratchfs/core';
import { replyText } from '../connection/client-session.js';
import { corruptReply } from '../format/reply/corrupt.js';
import { readDirectoryNode, readRecordNode, type StoredState } from '../format/reply/nodes.js';
import {
  isGoneReply,
  type Reply,
  readBuckets,
  readChunks,
  readPath,
  readTreeReply,
  transformOf,
} from '../format/reply/replies.js';
import { SortedRows } from '../format/reply/sorted-rows.js';
import { CHUNK_BYTES } from '../format/stored/chunk.js';
import { StateChangedError, type StateReader } from './state-reader.js';

/** Load requests that share one Redis request. */
export const MAX_LOAD_REQUESTS = 512;
/** Approximate size of a listing's entry in a reply. */
const APPROX_ENTRY_BYTES = 128;

type WantOf<K extends LoadRequest['kind']> = Extract<LoadRequest, { kind: K }>;

/** Returns where a request begins: the first chunk of a content, otherwise 0. */
export function startOf(want: LoadRequest): number {
  return want.kind === 'content' ? Math.floor(want.offset / CHUNK_BYTES) : 0;
}

/**
 * Reads the results of all requests, sending further Redis requests for what the replies do not contain.
 * @param replies replies to the first of the requests
 */
export async function readResults(
  reader: StateReader,
  wants: readonly LoadRequest[],
  replies: readonly Reply[],
  state?: StoredState,
): Promise<readonly LoadResult[]> {
  const results: LoadResult[] = [];
  let known = { replies, state };
  let first = 0;
  while (results.length < wants.length) {
    const reply = known.replies[results.length - first];
    if (reply !== undefined && known.state !== undefined) {
      results.push(await readResult(reader, wants[results.length] as LoadRequest, reply, known.state));
      continue;
    }
    first = results.length;
    known = await reader.load(
      wants.slice(first, first + MAX_LOAD_REQUESTS).map((want) => ({ want, from: startOf(want) })),
    );
    if (known.replies.length === 0) throw corruptReply('an answer without facts');
  }
  return results;
}

async function readResult(
  reader: StateReader,
  want: LoadRequest,
  reply: Reply,
  state: StoredState,
): Promise<LoadResult> {
  if (want.kind === 'path') return readPath(reply, state);
  if (isGoneReply(reply)) return { kind: 'gone' };
  if (want.kind === 'list') return readList(reader, want, reply, state);
  if (want.kind === 'content') return readContent(reader, want, reply, state);
  if (isCompleteTree(reply)) return readTree(reader, want, readTreeReply(reply, state, want), replyBytes(reply));
  // The top directory alone exceeds one reply: its remaining buckets are loaded like those of a listing.
  const [directory, transform, [, , next, , ...buckets]] = reply as [Buffer, Buffer, [Buffer, Buffer, Buffer, Reply]];
  const list: WantOf<'list'> = { kind: 'list', at: want.at, after: undefined, limit: Number.MAX_SAFE_INTEGER };
  const result = await readList(reader, list, [directory, transform, next, ...buckets], state);
  if (result.kind !== 'list') return result;
  const { names, nodes } = result;
  const top = { directory: result.directory, listings: [{ path: '', names, nodes }] };
  return readTree(reader, want, top, names.length * APPROX_ENTRY_BYTES);
}

/** Reports whether a tree reply contains all buckets of the top directory. */
function isCompleteTree(reply: Reply): boolean {
  return isGoneReply(reply) || replyText((reply[2] as Reply)[2]) === '';
}

/**
 * Reads a subtree in as many requests as its budget allows. Directories that did not fit into a reply are requested
 * separately. If another client writes in between, the result ends there.
 */
async function readTree(
  reader: StateReader,
  want: WantOf<'tree'>,
  { directory, listings }: ReturnType<typeof readTreeReply>,
  bytes: number,
): Promise<LoadResult> {
  let bytesLeft = want.budget - bytes;
  let next = 0;
  let pending: NodeAddress[] = [];
  for (;;) {
    for (; next < listings.length; next++) pending.push(...directoriesOf(want.at.path, listings[next] as Listing));
    const read = new Set(listings.map(({ path }) => joined(want.at.path, path)));
    pending = pending.filter(({ path }) => !read.has(path));
    if (pending.length === 0 || bytesLeft <= 0) break;
    const wants = pending.slice(0, MAX_LOAD_REQUESTS).map((at) => ({ ...want, at, budget: bytesLeft }));
    const loaded = await reader.load(wants.map((one) => ({ want: one, from: 0 }))).catch(undefinedIfChanged);
    if (loaded === undefined) break;
    const listingsBefore = listings.length;
    loaded.replies.forEach((reply, i) => {
      const { at } = wants[i] as WantOf<'tree'>;
      pending.shift();
      if (isGoneReply(reply) || !isCompleteTree(reply)) return;
      bytesLeft -= replyBytes(reply);
      const relative = at.path.slice(want.at.path === '/' ? 1 : want.at.path.length + 1);
      for (const listing of readTreeReply(reply, loaded.state, want).listings)
        listings.push({ ...listing, path: listing.path === '' ? relative : `${relative}/${listing.path}` });
    });
    if (listings.length === listingsBefore && loaded.replies.length === 0) break;
  }
  return { kind: 'tree', directory, listings };
}

function undefinedIfChanged(error: unknown): undefined {
  if (!(error instanceof StateChangedError)) throw error;
}

function joined(base: string, path: string): string {
  return path === '' ? base : joinPath(base, path);
}

function directoriesOf(base: string, { path, names, nodes }: Listing): NodeAddress[] {
  return nodes.flatMap(({ kind, id }, i) =>
    kind === 'directory' ? [{ path: joinPath(joined(base, path), names[i] as string), id }] : [],
  );
}

function replyBytes(part: Reply | Reply[number]): number {
  if (Buffer.isBuffer(part)) return part.length;
  return Array.isArray(part) ? part.reduce<number>((sum, one) => sum + replyBytes(one), 0) : 0;
}

async function readList(
  reader: StateReader,
  want: WantOf<'list'>,
  first: Reply,
  state: StoredState,
): Promise<LoadResult> {
  const directory = readDirectoryNode(first[0] as Buffer, transformOf(first[1] as Buffer), state, want.at.path === '/');
  const rows = new SortedRows();
  let reply = first;
  for (;;) {
    rows.add(readBuckets(reply, 3, state));
    const next = replyText(reply[2]);
    if (next === '') break;
    reply = await reader.loadMore(want, Number(next));
    if (isGoneReply(reply)) return { kind: 'gone' };
  }
  const sorted = rows.all();
  const start = want.after === undefined ? 0 : indexAfter(sorted.names, want.after);
  const end = Math.min(sorted.names.length, start + want.limit);
  return {
    kind: 'list',
    directory,
    names: sorted.names.slice(start, end),
    nodes: sorted.nodes.slice(start, end),
    complete: end === sorted.names.length,
  };
}

async function readContent(
  reader: StateReader,
  want: WantOf<'content'>,
  first: Reply,
  state: StoredState,
): Promise<LoadResult> {
  const file = readRecordNode(first[0] as Buffer, 0, transformOf(first[1] as Buffer), first[2] as Buffer, state);
  const bytes = new Uint8Array(Math.max(0, Math.min(want.length, file.size - want.offset)));
  const endChunk = Math.ceil((want.offset + bytes.length) / CHUNK_BYTES);
  let reply = first;
  let chunk = startOf(want);
  for (;;) {
    readChunks(reply.slice(4) as readonly Buffer[], bytes, chunk * CHUNK_BYTES, file.size, want.offset);
    chunk = Number(replyText(reply[3]));
    if (chunk >= endChunk || reply.length === 4) break;
    reply = await reader.loadMore(want, chunk);
    if (isGoneReply(reply)) return { kind: 'gone' };
  }
  return { kind: 'content', file, offset: want.offset, bytes };
}

function indexAfter(names: readonly string[], after: string): number {
  const at = names.findIndex((name) => compareNames(name, after) > 0);
  return at < 0 ? names.length : at;
}
