import { compareNames, type Facts, joinPath, type Listing, type Place, type Want } from '@scratchfs/core';
import { ask } from '../commit/idempotent-command.js';
import { type Session, textOf } from '../connection/client-session.js';
import { corrupt, directoryFact, readState, recordFact, type State } from '../format/reply/nodes.js';
import {
  type Answer,
  isGone,
  pathFacts,
  readBuckets,
  readChunks,
  transformOf,
  treeFacts,
} from '../format/reply/replies.js';
import { SortedRows } from '../format/reply/sorted-rows.js';
import { writeWant } from '../format/request/load-request.js';
import { Writer } from '../format/request/writer.js';
import { CHUNK_BYTES } from '../format/stored/chunk.js';
import { scripts } from '../lua/scripts.js';

/** How long the server may take for one answer, in microseconds of its processor, about, as the script counts it. */
const ANSWER_MICROS = 5_200;
/** What an entry of a listing takes in an answer, about. */
const ENTRY_BYTES = 128;
/** Wants of one request. */
const MAX_WANTS = 512;
/** Requests under way: what is asked for meanwhile gathers for the next one. */
const MAX_UNDER_WAY = 4;
/** How long a state is lent for a load that needs many requests. */
const LEASE_MS = 300_000;

type WantOf<K extends Want['kind']> = Extract<Want, { kind: K }>;

interface Asked {
  readonly wants: readonly Want[];
  readonly resolve: (facts: readonly Facts[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Between two requests of one load somebody wrote: what they brought does not belong together. */
class Changed extends Error {}

let lent = 0;

/**
 * Loads on their way. Those of one turn of the event loop share a request. What needs several requests must still be
 * of one moment: either nothing is written in between, or it begins anew on a state that the server lends for it.
 */
export class Loads {
  readonly #waiting: Asked[] = [];
  #underWay = 0;
  #isScheduled = false;

  constructor(
    readonly session: Session,
    readonly field: string,
  ) {}

  load(wants: readonly Want[]): Promise<readonly Facts[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ wants, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#underWay >= MAX_UNDER_WAY || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      const group: Asked[] = [];
      for (let wants = 0; wants < MAX_WANTS && this.#waiting.length > 0; ) {
        const next = this.#waiting.shift() as Asked;
        group.push(next);
        wants += next.wants.length;
      }
      if (group.length > 0) void this.#send(group);
      this.#schedule();
    });
  }

  async #send(group: readonly Asked[]): Promise<void> {
    this.#underWay += 1;
    try {
      const wants = group.flatMap((asked) => asked.wants);
      const request = new Request(this.session, this.field);
      const { state, answers } = await request.ask(
        wants.slice(0, MAX_WANTS).map((want) => ({ want, from: firstOf(want) })),
      );
      let at = 0;
      for (const asked of group) {
        const own = answers.slice(at, at + asked.wants.length);
        at += asked.wants.length;
        this.#answer(asked, own, state, request);
      }
    } catch (error) {
      for (const asked of group) asked.reject(error);
    } finally {
      this.#underWay -= 1;
      this.#schedule();
    }
  }

  /** Reads what came; where something is missing yet the load goes on by itself. */
  #answer({ wants, resolve, reject }: Asked, answers: readonly Answer[], state: State, request: Request): void {
    readAll(request, wants, answers, state).then(resolve, (error: unknown) => {
      if (error instanceof Changed) this.#loadLent(wants).then(resolve, reject);
      else reject(error);
    });
  }

  async #loadLent(wants: readonly Want[]): Promise<readonly Facts[]> {
    lent += 1;
    const key = `p/${this.session.client}/${lent}`;
    await ask(this.session, this.field, 'lend', [key, LEASE_MS]);
    try {
      return await readAll(new Request(this.session, key, true), wants, []);
    } finally {
      ask(this.session, this.field, 'giveBack', [key]).catch(() => {});
    }
  }
}

/** Requests that have to answer from the same state. */
class Request {
  #counter: string | undefined;

  constructor(
    readonly session: Session,
    readonly field: string,
    /** The state cannot change. */
    readonly isKept = false,
  ) {}

  async ask(
    wants: readonly { readonly want: Want; readonly from: number }[],
  ): Promise<{ readonly state: State; readonly answers: readonly Answer[] }> {
    const request = new Writer();
    request.u16(wants.length);
    for (const { want, from } of wants) writeWant(want, from, request);
    const answer = await this.session.run(scripts.load, this.field, [ANSWER_MICROS], { body: request });
    const [, counter, state] = answer;
    if (!Buffer.isBuffer(state)) throw corrupt('an answer');
    this.#counter ??= textOf(counter);
    if (!this.isKept && this.#counter !== textOf(counter)) throw new Changed();
    return { state: readState(state), answers: answer.slice(3) as readonly Answer[] };
  }

  /** The answer to one want, from somewhere on. */
  async more(want: Want, from: number): Promise<Answer> {
    return (await this.ask([{ want, from }])).answers[0] as Answer;
  }
}

function firstOf(want: Want): number {
  return want.kind === 'content' ? Math.floor(want.offset / CHUNK_BYTES) : 0;
}

function isComplete(want: Want, answer: Answer): boolean {
  if (want.kind === 'path' || isGone(answer)) return true;
  if (want.kind === 'list') return textOf(answer[2]) === '';
  if (want.kind === 'tree') return textOf((answer[2] as Answer)[2]) === '';
  return answer.length === 4 || Number(textOf(answer[3])) >= Math.ceil((want.offset + want.length) / CHUNK_BYTES);
}

/** The facts of all wants; `answers` are those of the first of them. */
async function readAll(
  request: Request,
  wants: readonly Want[],
  answers: readonly Answer[],
  state?: State,
): Promise<readonly Facts[]> {
  const facts: Facts[] = [];
  let known = { answers, state };
  let at = 0;
  while (facts.length < wants.length) {
    const answer = known.answers[facts.length - at];
    if (answer !== undefined && known.state !== undefined) {
      facts.push(await read(request, wants[facts.length] as Want, answer, known.state));
      continue;
    }
    at = facts.length;
    known = await request.ask(wants.slice(at, at + MAX_WANTS).map((want) => ({ want, from: firstOf(want) })));
    if (known.answers.length === 0) throw corrupt('an answer without facts');
  }
  return facts;
}

async function read(request: Request, want: Want, answer: Answer, state: State): Promise<Facts> {
  if (want.kind === 'path') return pathFacts(answer, state);
  if (isGone(answer)) return { kind: 'gone' };
  if (want.kind === 'list') return readList(request, want, answer, state);
  if (want.kind === 'content') return readContent(request, want, answer, state);
  if (isComplete(want, answer)) return readTree(request, want, treeFacts(answer, state, want), bytesIn(answer));
  // Its own listing alone is more than one answer may have: the rest comes as that of a listing.
  const [directory, transform, [, , next, , ...buckets]] = answer as [Buffer, Buffer, [Buffer, Buffer, Buffer, Answer]];
  const list: WantOf<'list'> = { kind: 'list', at: want.at, after: undefined, limit: Number.MAX_SAFE_INTEGER };
  const facts = await readList(request, list, [directory, transform, next, ...buckets], state);
  if (facts.kind !== 'list') return facts;
  const { names, nodes } = facts;
  const top = { directory: facts.directory, listings: [{ path: '', names, nodes }] };
  return readTree(request, want, top, names.length * ENTRY_BYTES);
}

/**
 * A subtree, in as many requests as its budget is worth: what did not fit into an answer is asked for again, directory
 * by directory. Where somebody writes in between it is as large as it was by then.
 */
async function readTree(
  request: Request,
  want: WantOf<'tree'>,
  { directory, listings }: ReturnType<typeof treeFacts>,
  bytes: number,
): Promise<Facts> {
  let left = want.budget - bytes;
  let next = 0;
  let pending: Place[] = [];
  for (;;) {
    for (; next < listings.length; next++) pending.push(...directoriesOf(want.at.path, listings[next] as Listing));
    const read = new Set(listings.map(({ path }) => joined(want.at.path, path)));
    pending = pending.filter(({ path }) => !read.has(path));
    if (pending.length === 0 || left <= 0) break;
    const wants = pending.slice(0, MAX_WANTS).map((at) => ({ ...want, at, budget: left }));
    const answers = await request.ask(wants.map((one) => ({ want: one, from: 0 }))).catch(nothingIfChanged);
    if (answers === undefined) break;
    const before = listings.length;
    answers.answers.forEach((answer, i) => {
      const { at } = wants[i] as WantOf<'tree'>;
      pending.shift();
      if (isGone(answer) || !isComplete(want, answer)) return;
      left -= bytesIn(answer);
      const beneath = at.path.slice(want.at.path === '/' ? 1 : want.at.path.length + 1);
      for (const listing of treeFacts(answer, answers.state, want).listings)
        listings.push({ ...listing, path: listing.path === '' ? beneath : `${beneath}/${listing.path}` });
    });
    if (listings.length === before && answers.answers.length === 0) break;
  }
  return { kind: 'tree', directory, listings };
}

function nothingIfChanged(error: unknown): undefined {
  if (!(error instanceof Changed)) throw error;
}

function joined(base: string, path: string): string {
  return path === '' ? base : joinPath(base, path);
}

function directoriesOf(base: string, { path, names, nodes }: Listing): Place[] {
  return nodes.flatMap(({ kind, id }, i) =>
    kind === 'directory' ? [{ path: joinPath(joined(base, path), names[i] as string), id }] : [],
  );
}

function bytesIn(part: Answer | Answer[number]): number {
  if (Buffer.isBuffer(part)) return part.length;
  return Array.isArray(part) ? part.reduce<number>((sum, one) => sum + bytesIn(one), 0) : 0;
}

async function readList(request: Request, want: WantOf<'list'>, first: Answer, state: State): Promise<Facts> {
  const directory = directoryFact(first[0] as Buffer, transformOf(first[1] as Buffer), state, want.at.path === '/');
  const rows = new SortedRows();
  let answer = first;
  for (;;) {
    rows.add(readBuckets(answer, 3, state));
    const next = textOf(answer[2]);
    if (next === '') break;
    answer = await request.more(want, Number(next));
    if (isGone(answer)) return { kind: 'gone' };
  }
  const sorted = rows.all();
  const start = want.after === undefined ? 0 : firstAfter(sorted.names, want.after);
  const end = Math.min(sorted.names.length, start + want.limit);
  return {
    kind: 'list',
    directory,
    names: sorted.names.slice(start, end),
    nodes: sorted.nodes.slice(start, end),
    complete: end === sorted.names.length,
  };
}

async function readContent(request: Request, want: WantOf<'content'>, first: Answer, state: State): Promise<Facts> {
  const file = recordFact(first[0] as Buffer, 0, transformOf(first[1] as Buffer), first[2] as Buffer, state);
  const bytes = new Uint8Array(Math.max(0, Math.min(want.length, file.size - want.offset)));
  const end = Math.ceil((want.offset + bytes.length) / CHUNK_BYTES);
  let answer = first;
  let from = firstOf(want);
  for (;;) {
    readChunks(answer.slice(4) as readonly Buffer[], bytes, from * CHUNK_BYTES, file.size, want.offset);
    from = Number(textOf(answer[3]));
    if (from >= end || answer.length === 4) break;
    answer = await request.more(want, from);
    if (isGone(answer)) return { kind: 'gone' };
  }
  return { kind: 'content', file, offset: want.offset, bytes };
}

function firstAfter(names: readonly string[], after: string): number {
  const at = names.findIndex((name) => compareNames(name, after) > 0);
  return at < 0 ? names.length : at;
}
