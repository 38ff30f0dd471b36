import type { Facts, Want } from '@scratchfs/core';
import {
  type Answer,
  isGone,
  pathFacts,
  type Rows,
  readBuckets,
  readChunks,
  sortRows,
  transformOf,
  treeFacts,
} from './format/answers.js';
import { CHUNK_BYTES } from './format/chunk.js';
import { corrupt, directoryFact, readState, recordFact, type State } from './format/facts.js';
import { writeWant } from './format/wants.js';
import { Writer } from './format/writer.js';
import { scripts } from './lua/scripts.js';
import { type Session, textOf } from './session.js';

/** Bytes of one answer, about: what keeps a script short. */
const ANSWER_BYTES = 1_500_000;

/** Loads on their way: those of one turn of the event loop share a request. */
export class Loads {
  constructor(
    readonly session: Session,
    readonly field: string,
  ) {}

  async load(wants: readonly Want[]): Promise<readonly Facts[]> {
    const facts: Facts[] = [];
    while (facts.length < wants.length) {
      const { state, answers } = await this.#ask(
        wants.slice(facts.length).map((want) => ({ want, from: firstOf(want) })),
      );
      for (const answer of answers) facts.push(await this.#read(wants[facts.length] as Want, answer, state));
    }
    return facts;
  }

  async #ask(
    wants: readonly { readonly want: Want; readonly from: number }[],
  ): Promise<{ state: State; answers: readonly Answer[] }> {
    const request = new Writer();
    request.u16(wants.length);
    for (const { want, from } of wants) writeWant(want, from, request);
    const answer = await this.session.run(scripts.load, this.field, [ANSWER_BYTES, request.done()]);
    const state = answer[2];
    if (!Buffer.isBuffer(state)) throw corrupt('an answer');
    return { state: readState(state), answers: answer.slice(3) as readonly Answer[] };
  }

  async #read(want: Want, answer: Answer, state: State): Promise<Facts> {
    if (want.kind === 'path') return pathFacts(answer, state);
    if (isGone(answer)) return { kind: 'gone' };
    if (want.kind === 'tree') return treeFacts(answer, state, want);
    return want.kind === 'list' ? this.#list(want, answer, state) : this.#content(want, answer, state);
  }

  async #list(want: Extract<Want, { kind: 'list' }>, first: Answer, state: State): Promise<Facts> {
    const directory = directoryFact(first[0] as Buffer, transformOf(first[1] as Buffer), state, want.at.path === '/');
    const rows: Rows = { names: [], nodes: [] };
    let answer = first;
    for (;;) {
      readBuckets(answer, 3, state, rows);
      const next = textOf(answer[2]);
      if (next === '') break;
      const more = await this.#ask([{ want, from: Number(next) }]);
      answer = more.answers[0] as Answer;
      if (isGone(answer)) return { kind: 'gone' };
    }
    const sorted = sortRows(rows);
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

  async #content(want: Extract<Want, { kind: 'content' }>, first: Answer, state: State): Promise<Facts> {
    const file = recordFact(first[0] as Buffer, 0, transformOf(first[1] as Buffer), first[2] as Buffer, state);
    const bytes = new Uint8Array(Math.max(0, Math.min(want.length, file.size - want.offset)));
    const end = Math.ceil((want.offset + bytes.length) / CHUNK_BYTES);
    let answer = first;
    let from = firstOf(want);
    for (;;) {
      readChunks(answer.slice(4) as readonly Buffer[], bytes, from * CHUNK_BYTES, file.size, want.offset);
      from = Number(textOf(answer[3]));
      if (from >= end || answer.length === 4) break;
      const more = await this.#ask([{ want, from }]);
      answer = more.answers[0] as Answer;
      if (isGone(answer)) return { kind: 'gone' };
    }
    return { kind: 'content', file, offset: want.offset, bytes };
  }
}

function firstOf(want: Want): number {
  return want.kind === 'content' ? Math.floor(want.offset / CHUNK_BYTES) : 0;
}

function firstAfter(names: readonly string[], after: string): number {
  const at = names.findIndex((name) => Buffer.compare(Buffer.from(name), Buffer.from(after)) > 0);
  return at < 0 ? names.length : at;
}
