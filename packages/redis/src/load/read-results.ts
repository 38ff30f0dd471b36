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

/** Maximum number of load requests that share one Redis request. */
export const MAX_LOAD_REQUESTS = 512;
/** Approximate size of a listing's entry in a reply. */
const APPROX_ENTRY_BYTES = 128;

type RequestOf<K extends LoadRequest['kind']> = Extract<LoadRequest, { kind: K }>;

/** Returns where a request begins: the first chunk of a content, otherwise 0. */
export function startOf(request: LoadRequest): number {
  return request.kind === 'content' ? Math.floor(request.offset / CHUNK_BYTES) : 0;
}

/**
 * Reads the results of all requests, sending further Redis requests for what the replies do not contain.
 * @param replies replies to the first of the requests
 */
export async function readResults(
  reader: StateReader,
  requests: readonly LoadRequest[],
  replies: readonly Reply[],
  state?: StoredState,
): Promise<readonly LoadResult[]> {
  const results: LoadResult[] = [];
  let known = { replies, state };
  let first = 0;
  while (results.length < requests.length) {
    const reply = known.replies[results.length - first];
    if (reply !== undefined && known.state !== undefined) {
      results.push(await readResult(reader, requests[results.length] as LoadRequest, reply, known.state));
      continue;
    }
    first = results.length;
    known = await reader.load(
      requests.slice(first, first + MAX_LOAD_REQUESTS).map((request) => ({ request, from: startOf(request) })),
    );
    if (known.replies.length === 0) throw corruptReply('a reply without results');
  }
  return results;
}

async function readResult(
  reader: StateReader,
  request: LoadRequest,
  reply: Reply,
  state: StoredState,
): Promise<LoadResult> {
  if (request.kind === 'path') return readPath(reply, state);
  if (isGoneReply(reply)) return { kind: 'gone' };
  if (request.kind === 'list') return readList(reader, request, reply, state);
  if (request.kind === 'content') return readContent(reader, request, reply, state);
  if (isCompleteTree(reply)) return readTree(reader, request, readTreeReply(reply, state, request), replyBytes(reply));
  // The top directory alone exceeds one reply: its remaining buckets are loaded like those of a listing.
  const [directory, transform, [, , next, , ...buckets]] = reply as [Buffer, Buffer, [Buffer, Buffer, Buffer, Reply]];
  const list: RequestOf<'list'> = { kind: 'list', at: request.at, after: undefined, limit: Number.MAX_SAFE_INTEGER };
  const result = await readList(reader, list, [directory, transform, next, ...buckets], state);
  if (result.kind !== 'list') return result;
  const { names, nodes } = result;
  const top = { directory: result.directory, listings: [{ path: '', names, nodes }] };
  return readTree(reader, request, top, names.length * APPROX_ENTRY_BYTES);
}

/** Reports whether a tree reply contains all buckets of the top directory, or says that it is gone. */
function isCompleteTree(reply: Reply): boolean {
  return isGoneReply(reply) || replyText((reply[2] as Reply)[2]) === '';
}

/**
 * Reads a subtree in as many requests as its budget allows. Directories that did not fit into a reply are requested
 * separately. If a write comes in between, the result ends there.
 */
async function readTree(
  reader: StateReader,
  request: RequestOf<'tree'>,
  { directory, listings }: ReturnType<typeof readTreeReply>,
  bytes: number,
): Promise<LoadResult> {
  let bytesLeft = request.budget - bytes;
  let next = 0;
  let pending: NodeAddress[] = [];
  for (;;) {
    for (; next < listings.length; next++) pending.push(...directoriesOf(request.at.path, listings[next] as Listing));
    const read = new Set(listings.map(({ path }) => joined(request.at.path, path)));
    pending = pending.filter(({ path }) => !read.has(path));
    if (pending.length === 0 || bytesLeft <= 0) break;
    const requests = pending.slice(0, MAX_LOAD_REQUESTS).map((at) => ({ ...request, at, budget: bytesLeft }));
    const loaded = await reader.load(requests.map((one) => ({ request: one, from: 0 }))).catch(undefinedIfChanged);
    if (loaded === undefined) break;
    const listingsBefore = listings.length;
    loaded.replies.forEach((reply, i) => {
      const { at } = requests[i] as RequestOf<'tree'>;
      pending.shift();
      if (isGoneReply(reply) || !isCompleteTree(reply)) return;
      bytesLeft -= replyBytes(reply);
      const relative = at.path.slice(request.at.path === '/' ? 1 : request.at.path.length + 1);
      for (const listing of readTreeReply(reply, loaded.state, request).listings)
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
  request: RequestOf<'list'>,
  first: Reply,
  state: StoredState,
): Promise<LoadResult> {
  const directory = readDirectoryNode(
    first[0] as Buffer,
    transformOf(first[1] as Buffer),
    state,
    request.at.path === '/',
  );
  const rows = new SortedRows();
  let reply = first;
  for (;;) {
    rows.add(readBuckets(reply, 3, state));
    const next = replyText(reply[2]);
    if (next === '') break;
    reply = await reader.loadMore(request, Number(next));
    if (isGoneReply(reply)) return { kind: 'gone' };
  }
  const sorted = rows.all();
  const start = request.after === undefined ? 0 : indexAfter(sorted.names, request.after);
  const end = Math.min(sorted.names.length, start + request.limit);
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
  request: RequestOf<'content'>,
  first: Reply,
  state: StoredState,
): Promise<LoadResult> {
  const file = readRecordNode(first[0] as Buffer, 0, transformOf(first[1] as Buffer), first[2] as Buffer, state);
  const bytes = new Uint8Array(Math.max(0, Math.min(request.length, file.size - request.offset)));
  const endChunk = Math.ceil((request.offset + bytes.length) / CHUNK_BYTES);
  let reply = first;
  let chunk = startOf(request);
  for (;;) {
    readChunks(reply.slice(4) as readonly Buffer[], bytes, chunk * CHUNK_BYTES, file.size, request.offset);
    chunk = Number(replyText(reply[3]));
    if (chunk >= endChunk || reply.length === 4) break;
    reply = await reader.loadMore(request, chunk);
    if (isGoneReply(reply)) return { kind: 'gone' };
  }
  return { kind: 'content', file, offset: request.offset, bytes };
}

function indexAfter(names: readonly string[], after: string): number {
  const at = names.findIndex((name) => compareNames(name, after) > 0);
  return at < 0 ? names.length : at;
}
