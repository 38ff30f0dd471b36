import type { BackendCall, LoadRequest, LoadResult } from '../backend.js';
import { StorageError } from '../errors.js';
import { compareNames, parentPath } from '../paths.js';
import type { SharedStore } from '../tree/tree.js';
import { FactStore } from './fact-store.js';
import { MANY_NAMES } from './known-listing.js';
import type { OpenFiles } from './open-files.js';
import { nextTurn } from './scheduling/time-slice.js';
import { type Need, prepared } from './source.js';

const ROOT: LoadRequest = { kind: 'path', path: '/', content: 0 };

/** Places whose directories are loaded again with them. */
const MAX_PLACES = 8;

/** Sends wants as one request. */
export type Ask = (wants: readonly LoadRequest[], call: BackendCall) => Promise<readonly LoadResult[]>;

/** What is known of one state of a storage, and the way to know more: of the current one, or of one that is kept. */
export class FactLoader {
  readonly facts = new FactStore();
  readonly #ask: Ask;
  #loads = 0;

  constructor(
    readonly shared: SharedStore,
    readonly openFiles: OpenFiles,
    ask: Ask,
  ) {
    this.#ask = ask;
  }

  /** How many loads have been sent. */
  get loads(): number {
    return this.#loads;
  }

  async loadRoot(signal?: AbortSignal): Promise<void> {
    if (this.facts.root === undefined) await this.load([ROOT], signal);
  }

  /** Loads what is missing, with the directories on the way to it, so that all of it is of one moment. */
  async loadWhole(needs: readonly Need[], call: BackendCall = {}): Promise<void> {
    const asked = await prepared(needs, call.signal);
    const above = new Set<string>();
    for (const want of asked) if (want.kind !== 'path' && want.at.path !== '/') above.add(parentPath(want.at.path));
    const paths =
      above.size > MAX_PLACES ? [] : [...above].map((path) => ({ kind: 'path', path, content: 0 }) as const);
    await this.#load([...paths, ...asked], call);
  }

  async load(needs: readonly Need[], signal?: AbortSignal): Promise<void> {
    await this.#load(await prepared(needs, signal), { signal });
  }

  async #load(asked: readonly LoadRequest[], call: BackendCall): Promise<void> {
    if (asked.length === 0) return;
    // Before anything is known the root has no id yet: only paths can be asked for.
    const wants = this.facts.root === undefined ? asked.map((want) => (want.kind === 'path' ? want : ROOT)) : asked;
    const answers = await this.fetch(wants, call);
    const pages: LoadRequest[] = [];
    wants.forEach((want, i) => {
      const facts = answers[i];
      if (facts?.kind === 'list' && want.kind === 'list' && !facts.complete)
        pages.push({ ...want, after: nextAfter(want.after, facts.names.at(-1)) });
    });
    if (pages.length > 0) await this.#load(pages, call);
  }

  /** One request: what it brings is remembered, and answered. */
  async fetch(wants: readonly LoadRequest[], call: BackendCall = {}): Promise<readonly LoadResult[]> {
    // Numbered when it is sent: what it brings is from then or later, and where it may be older the number says so.
    this.#loads += 1;
    const load = call.mayBeOld === true ? -this.#loads : this.#loads;
    const answers = await this.#ask(wants, call);
    // To make facts of an answer and to take them in are a slice each.
    if (namesIn(answers) > MANY_NAMES) await nextTurn();
    wants.forEach((want, i) => {
      const facts = answers[i];
      if (facts === undefined)
        throw new StorageError('corrupt', 'The storage answered fewer facts than were asked for');
      this.facts.add(want, facts, load, this.#loads);
    });
    return answers;
  }

  /** A loader of the same state that knows nothing yet; what it loads is remembered here too. */
  fresh(): FactLoader {
    return new FactLoader(this.shared, this.openFiles, (wants, call) => this.fetch(wants, call));
  }
}

function namesIn(answers: readonly LoadResult[]): number {
  let count = 0;
  for (const facts of answers) {
    if (facts.kind === 'list') count += facts.names.length;
    else if (facts.kind === 'tree') for (const { names } of facts.listings) count += names.length;
  }
  return count;
}

/** @throws StorageError `corrupt` where a page leads nowhere: they would go on for ever */
function nextAfter(before: string | undefined, last: string | undefined): string {
  if (last !== undefined && (before === undefined || compareNames(last, before) > 0)) return last;
  throw new StorageError('corrupt', 'The storage answered a page of a listing that ends where it begins');
}
