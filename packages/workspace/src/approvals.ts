import { type CallOptions, type FileSystem, isFsError, quote } from '@scratchfs/core';
import { checkInteger, checkOptions, checkPlainObject } from '@scratchfs/core/internal';
import { WorkspaceError } from './errors.js';
import { createRecord, readRecord } from './store/records.js';
import type { Approval, Approvals } from './workspace-types.js';

const FOLDER = '/approvals';
/** Number of approvals that are read at the same time. */
const READ_TOGETHER = 8;
/** Maximum number of approvals that are kept in memory, and maximum length of their details there, in characters. */
const MAX_KNOWN = 1000;
const MAX_KNOWN_DETAILS = 2_000;
const DEFAULT_TTL_MS = 24 * 3_600_000;
const MAX_TTL_MS = 365 * 24 * 3_600_000;
/** Maximum length of an action's name, of a summary, and of the details as JSON, in characters. */
const MAX_ACTION = 100;
const MAX_SUMMARY = 10_000;
const MAX_DETAILS = 1_000_000;

type Request = Omit<Approval, 'id' | 'state' | 'details'> & { readonly details: string | undefined };
type Settlement = { readonly state: 'approved' | 'denied' | 'expired' };
interface Records {
  readonly request: Request;
  readonly settled: Settlement | undefined;
  readonly isUsed: boolean;
}
type Action = Pick<Approval, 'attempt' | 'head' | 'action' | 'details'>;
type Listing = CallOptions & { readonly state?: Approval['state'] | undefined };
const STATES = ['pending', 'approved', 'denied', 'expired'] as const;

/**
 * Approvals in the store of a workspace: `/approvals/000000007` is the request, `000000007.settled` what was decided,
 * `000000007.used` that it was used. Each is created exclusively and never changes, so of several processes that decide
 * or use at the same time at most one succeeds.
 */
export class StoredApprovals implements Approvals {
  readonly #store: FileSystem;
  /** Records by id. A request never changes, `settled` is set once, and `isUsed` only becomes true. */
  readonly #known = new Map<number, Records>();
  readonly #clock: () => number;
  readonly #before: () => Promise<void>;
  readonly #after: () => void;

  /** @param before called before each change @param after called after it */
  constructor(
    store: FileSystem,
    clock: () => number,
    before: () => Promise<void> = async () => {},
    after: () => void = () => {},
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#before = before;
    this.#after = after;
  }

  async request(
    what: Action & Pick<Approval, 'summary'> & { readonly ttlMs?: number | undefined },
    options: CallOptions = {},
  ): Promise<Approval> {
    const { signal } = checkOptions(options, [], 'request');
    const known = ['attempt', 'head', 'action', 'summary', 'details', 'ttlMs'];
    const { summary, ttlMs, ...action } = checkOptions<Parameters<Approvals['request']>[0]>(
      what,
      known,
      'request',
      false,
    );
    const request: Request = {
      ...checkAction(action as Action),
      summary: checkText(summary, 'summary', MAX_SUMMARY),
      createdAt: this.#clock(),
      expiresAt: this.#clock() + checkInteger(ttlMs ?? DEFAULT_TTL_MS, 'ttlMs', 1, MAX_TTL_MS),
    };
    for (let id = Math.max(0, ...(await this.#ids(signal))) + 1; ; id++)
      if (await this.#create(pathOf(id), request, signal)) return this.#approval(id, request, undefined, false);
  }

  async list(options: Listing = {}): Promise<readonly Approval[]> {
    const { state, signal } = checkOptions<Listing>(options, ['state'], 'list');
    if (state !== undefined && !STATES.includes(state))
      throw new RangeError(`state must be one of ${STATES.join(', ')}, not ${quote(String(state))}`);
    const ids = (await this.#ids(signal)).sort((a, b) => b - a);
    const all: (Approval | undefined)[] = [];
    // Reading all of them at the same time would add a listener to the signal for each.
    for (let i = 0; i < ids.length; i += READ_TOGETHER)
      all.push(...(await Promise.all(ids.slice(i, i + READ_TOGETHER).map((id) => this.#find(id, signal)))));
    return all.filter((one) => one !== undefined && (state === undefined || one.state === state)) as Approval[];
  }

  async get(id: number, options: CallOptions = {}): Promise<Approval> {
    const { signal } = checkOptions(options, [], 'get');
    const found = Number.isSafeInteger(id) && id > 0 ? await this.#find(id, signal) : undefined;
    if (found !== undefined) return found;
    const pending = (await this.list({ state: 'pending', signal })).map((one) => one.id);
    const next = pending.length === 0 ? 'Nothing waits for approval' : `These wait: ${pending.slice(0, 20).join(', ')}`;
    throw new WorkspaceError('not-found', `There is no approval ${quote(String(id))}. ${next}`);
  }

  approve(id: number, options: CallOptions = {}): Promise<Approval> {
    return this.#settle(id, 'approved', options);
  }

  deny(id: number, options: CallOptions = {}): Promise<Approval> {
    return this.#settle(id, 'denied', options);
  }

  async use(id: number, what: Action, options: CallOptions = {}): Promise<boolean> {
    const { signal } = checkOptions(options, [], 'use');
    const wanted = checkAction(checkOptions(what, ['attempt', 'head', 'action', 'details'], 'use', false) as Action);
    if (!Number.isSafeInteger(id) || id < 1) return false;
    const request = await readRecord<Request>(this.#store, pathOf(id), signal);
    if (request === undefined) return false;
    const isSame = (['attempt', 'head', 'action', 'details'] as const).every((key) => request[key] === wanted[key]);
    if (!isSame || (await this.get(id, { signal })).state !== 'approved') return false;
    return this.#create(`${pathOf(id)}.used`, { at: this.#clock() }, signal);
  }

  async #settle(id: number, state: 'approved' | 'denied', options: CallOptions): Promise<Approval> {
    const { signal } = checkOptions(options, [], state === 'approved' ? 'approve' : 'deny');
    const before = await this.get(id, { signal });
    // An expired request is settled as expired, so that it stays so if the clock goes back.
    const next: Settlement = { state: before.state === 'expired' ? 'expired' : state };
    const isFirst =
      before.state !== 'approved' &&
      before.state !== 'denied' &&
      (await this.#create(`${pathOf(id)}.settled`, next, signal));
    const after = await this.get(id, { signal });
    if (isFirst && after.state === state) return after;
    throw new WorkspaceError(
      'settled',
      `Approval ${id} is ${after.state} already, so it cannot be ${state}. Ask for a new one`,
    );
  }

  async #create(path: string, record: object, signal: AbortSignal | undefined): Promise<boolean> {
    await this.#before();
    const isCreated = await createRecord(this.#store, path, record, signal);
    this.#after();
    return isCreated;
  }

  async #find(id: number, signal: AbortSignal | undefined): Promise<Approval | undefined> {
    const known = this.#known.get(id);
    const request = known?.request ?? (await readRecord<Request>(this.#store, pathOf(id), signal));
    if (request === undefined) return undefined;
    const settled = known?.settled ?? (await readRecord<Settlement>(this.#store, `${pathOf(id)}.settled`, signal));
    const isUsed =
      settled?.state === 'approved' &&
      (known?.isUsed === true || (await this.#store.exists(`${pathOf(id)}.used`, { signal })));
    if ((known !== undefined || this.#known.size < MAX_KNOWN) && (request.details ?? '').length <= MAX_KNOWN_DETAILS)
      this.#known.set(id, { request, settled, isUsed });
    return this.#approval(id, request, settled, isUsed);
  }

  #approval(id: number, request: Request, settled: Settlement | undefined, isUsed: boolean): Approval {
    const { attempt, head, action, summary, details, createdAt, expiresAt } = request;
    const isOver = this.#clock() >= expiresAt;
    const decided = settled?.state ?? 'pending';
    const state = isOver && decided !== 'denied' && !isUsed ? 'expired' : decided;
    const data = details === undefined ? {} : { details: JSON.parse(details) as unknown };
    return { id, state, attempt, head, action, summary, ...data, createdAt, expiresAt };
  }

  async #ids(signal: AbortSignal | undefined): Promise<number[]> {
    try {
      const names = await this.#store.readdir(FOLDER, { signal });
      return names.filter((name) => /^\d{9}$/.test(name)).map(Number);
    } catch (error) {
      if (isFsError(error, 'ENOENT')) return [];
      throw error;
    }
  }
}

function pathOf(id: number): string {
  return `${FOLDER}/${String(id).padStart(9, '0')}`;
}

function checkAction({
  attempt,
  head,
  action,
  details,
}: Action): Pick<Request, 'attempt' | 'head' | 'action' | 'details'> {
  return {
    attempt: checkText(attempt, 'attempt', MAX_ACTION),
    head: checkInteger(head, 'head', 0),
    action: checkText(action, 'action', MAX_ACTION),
    details: details === undefined ? undefined : canonicalJson(details),
  };
}

function checkText(value: unknown, name: string, max: number): string {
  if (typeof value !== 'string') throw new TypeError(`${name} must be a text, not ${typeof value}`);
  if (value === '' || value.length > max || !value.isWellFormed())
    throw new RangeError(`${name} must be well-formed text of 1 to ${max} characters`);
  return value;
}

/**
 * Returns JSON with sorted keys, so that it does not depend on their order.
 * @throws TypeError for a value that JSON does not have, such as a function; RangeError if the text is too large
 */
function canonicalJson(value: unknown): string {
  const text = write(value, 0);
  if (text.length > MAX_DETAILS) throw new RangeError(`details may have ${MAX_DETAILS} characters as JSON`);
  return text;
}

const MAX_DEPTH = 100;

function write(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH)
    throw new TypeError(`details must be JSON data of at most ${MAX_DEPTH} levels, without cycles`);
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value))) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${Array.from(value, (item) => write(item, depth + 1)).join()}]`;
  if (typeof value === 'object') {
    // The fields of a Date or a Map do not tell it from another one.
    checkPlainObject(value, 'An object in details');
    const fields = Object.entries(value).filter(([, item]) => item !== undefined);
    fields.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${fields.map(([key, item]) => `${JSON.stringify(key)}:${write(item, depth + 1)}`).join()}}`;
  }
  throw new TypeError(`details must be JSON data, and holds a ${typeof value}`);
}
