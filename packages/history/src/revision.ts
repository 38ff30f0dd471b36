import { HistoryError } from './errors.js';
import { isObjectId, type ObjectId } from './object-id.js';
import type { ObjectReader } from './object-reader.js';
import { isPseudoRef } from './refs.js';
import type { GitObjectStore, RepositoryCall } from './repository.js';

/** One step from a commit to an ancestor. */
interface Step {
  /** `~`: that many times to the first parent. `^`: to the parent with that number, 0 for the commit itself. */
  readonly operator: '~' | '^';
  readonly count: number;
}

/** Minimum number of digits of a shortened id, as in git. */
const MIN_SHORT_ID_DIGITS = 4;
/** Maximum number of candidates that the error of an ambiguous id lists. */
const MAX_LISTED_CANDIDATES = 10;

/** Returns the id that a reference leads to, or undefined if it does not exist. */
type ReadRef = (name: string, call?: RepositoryCall) => Promise<ObjectId | undefined>;

/**
 * Returns the commit (or tree, or blob) that a revision names: an id or the start of one, a reference, and any number
 * of `~n` and `^n` (git, gitrevisions). Annotated tags are followed.
 * @throws HistoryError `not-found`, `ambiguous`, `unsupported`, `wrong-type`, `corrupt`; TypeError for other syntax
 */
export async function resolveRevision(
  revision: string,
  reader: ObjectReader,
  readRef: ReadRef,
  call?: RepositoryCall,
): Promise<ObjectId> {
  const { base, steps } = parseRevision(revision);
  let id = (await reader.peel(await resolveBase(base, revision, reader, readRef, call), call)).id;
  for (const step of steps) id = await follow(step, id, revision, reader, call);
  return id;
}

function parseRevision(text: string): { readonly base: string; readonly steps: readonly Step[] } {
  if (typeof text !== 'string') throw new TypeError('A version is an id or the name of a branch or a tag');
  const end = text.search(/[~^]/);
  const base = end < 0 ? text : text.slice(0, end);
  const suffix = end < 0 ? '' : text.slice(end);
  if ((base === '' && suffix !== '') || !/^(?:[~^]\d{0,9})*$/.test(suffix))
    throw new TypeError(`Not a version: ${shown(text)}. Use an id or a name, followed by ~n or ^n, such as HEAD~1`);
  const steps = [...suffix.matchAll(/([~^])(\d*)/g)].map(([, operator, digits]) => ({
    operator: operator as '~' | '^',
    count: digits === '' ? 1 : Number(digits),
  }));
  return { base: base === '@' ? 'HEAD' : base, steps };
}

async function resolveBase(
  base: string,
  revision: string,
  reader: ObjectReader,
  readRef: ReadRef,
  call?: RepositoryCall,
): Promise<ObjectId> {
  const digits = /^[0-9a-f]+$/i.test(base) ? base.toLowerCase() : undefined;
  if (digits !== undefined && isObjectId(digits, reader.store.format)) return digits;
  for (const name of namesOf(base)) {
    const id = await readRef(name, call);
    if (id !== undefined) return id;
  }
  if (digits !== undefined && digits.length >= MIN_SHORT_ID_DIGITS) return resolveShortId(digits, reader, call);
  const hint = digits === undefined ? '' : `; a shortened id has at least ${MIN_SHORT_ID_DIGITS} digits`;
  throw new HistoryError('not-found', `No version is called ${shown(base)}${hint}`, { ref: revision });
}

/** Returns the full names that a short name may stand for, in git's order. */
function namesOf(name: string): string[] {
  if (name.startsWith('refs/')) return [name];
  const names = [`refs/tags/${name}`, `refs/heads/${name}`, `refs/remotes/${name}`, `refs/remotes/${name}/HEAD`];
  if (name.includes('/')) names.unshift(`refs/${name}`);
  return isPseudoRef(name) ? [name, ...names] : names;
}

/** Returns the only commit or tag whose id begins with the digits; if there is none, the only object. */
async function resolveShortId(digits: string, reader: ObjectReader, call?: RepositoryCall): Promise<ObjectId> {
  const ids = [...(await idsWith(digits, reader.store, call))];
  if (ids.length === 1) return ids[0] as ObjectId;
  const typed = await Promise.all(ids.map(async (id) => ({ id, type: (await reader.object(id, call)).type })));
  const versions = typed.filter(({ type }) => type === 'commit' || type === 'tag');
  if (versions.length === 1) return (versions[0] as { id: ObjectId }).id;
  if (ids.length === 0)
    throw new HistoryError('not-found', `No version has an id that begins with ${digits}`, { ref: digits });
  const candidates = (versions.length > 0 ? versions : typed).sort((a, b) => (a.id < b.id ? -1 : 1));
  const listed = candidates.slice(0, MAX_LISTED_CANDIDATES).map(({ id, type }) => `${id} (${type})`);
  const more = candidates.length > listed.length ? `, and ${candidates.length - listed.length} more` : '';
  throw new HistoryError(
    'ambiguous',
    `${candidates.length} ids begin with ${digits}; use more digits: ${listed.join(', ')}${more}`,
    { ref: digits },
  );
}

/** @throws HistoryError `unsupported` if the store cannot list its objects */
async function idsWith(digits: string, store: GitObjectStore, call?: RepositoryCall): Promise<Set<ObjectId>> {
  if (store.list === undefined)
    throw new HistoryError('unsupported', `This repository cannot list its objects: use the full id, not ${digits}`);
  const ids = new Set<ObjectId>();
  for await (const { id } of store.list(digits, call)) ids.add(id);
  return ids;
}

/** Returns the shortest start of an id, of at least `minDigits` digits, that no other object's id has. */
export async function shortestUnique(
  id: ObjectId,
  minDigits: number,
  store: GitObjectStore,
  call?: RepositoryCall,
): Promise<string> {
  if (!Number.isSafeInteger(minDigits) || minDigits < MIN_SHORT_ID_DIGITS || minDigits > id.length)
    throw new RangeError(`minDigits must be from ${MIN_SHORT_ID_DIGITS} to ${id.length}, not ${String(minDigits)}`);
  let digits = minDigits;
  for (const other of await idsWith(id.slice(0, minDigits), store, call))
    if (other !== id) while (other.startsWith(id.slice(0, digits))) digits += 1;
  return id.slice(0, digits);
}

async function follow(
  { operator, count }: Step,
  from: ObjectId,
  revision: string,
  reader: ObjectReader,
  call?: RepositoryCall,
): Promise<ObjectId> {
  const parents = async (id: ObjectId) => reader.parentsOf(await reader.commit(id, call), call);
  if (operator === '^') {
    const found = await parents(from);
    const id = count === 0 ? from : found[count - 1];
    if (id !== undefined) return id;
    throw new HistoryError('not-found', `${shown(revision)} does not exist: ${from} has ${plural(found.length)}`, {
      ref: revision,
    });
  }
  let id = from;
  await reader.commit(id, call);
  for (let passed = 0; passed < count; passed++) {
    const [parent] = await parents(id);
    if (parent === undefined)
      throw new HistoryError('not-found', `${shown(revision)} does not exist: the history ends at ${id}`, {
        ref: revision,
      });
    id = parent;
  }
  return id;
}

function plural(parents: number): string {
  return parents === 1 ? '1 parent' : `${parents} parents`;
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
