import { hashOf, ifReadable } from '../log/contents.js';
import type { Conflict, EntryState } from '../operation.js';
import { type Contents, contentOf, permissionsOf, sameContent, sameState } from './attempt-change.js';

/** One of three states of a path, with the content of a file. */
export interface Side {
  readonly state: EntryState | null;
  readonly content: () => Promise<Uint8Array>;
}

/** Returns a side whose content is stored. */
export function sideOf(state: EntryState | null, contents: Contents, signal: AbortSignal | undefined): Side {
  return { state, content: () => contentOf(state, contents, signal) };
}

export type Merged =
  | { readonly state: EntryState | null; readonly content?: Uint8Array | undefined }
  | { readonly conflict: Conflict['code'] };

/**
 * Merges the changes of two sides to one state of a path. If one side changed nothing, the other one's state results.
 * Text is merged by lines, with the conflicts of `git merge-file`; content and mode are merged separately. A base content
 * that is missing or damaged in the store counts as binary.
 */
export async function mergeEntry(base: Side, disk: Side, attempt: Side): Promise<Merged> {
  const [o, a, b] = [base.state, disk.state, attempt.state];
  if (sameState(a, b) || sameState(o, b)) return { state: a };
  if (sameState(o, a)) return withContent(b, attempt);
  if (a === null || b === null) return { conflict: 'removed' };
  if (a.kind !== b.kind) return { conflict: o === null ? 'exists' : 'kind' };
  const mode = mergeModes(o, a, b);
  if (mode === undefined) return { conflict: 'mode' };
  if (sameContent(a, b)) return withContent({ ...a, mode }, disk);
  if (o === null) return { conflict: 'exists' };
  if (sameContent(o, a)) return withContent({ ...b, mode }, attempt);
  if (sameContent(o, b)) return withContent({ ...a, mode }, disk);
  if (o.kind !== b.kind) return { conflict: 'kind' };
  if (b.kind !== 'file') return { conflict: 'content' };
  const [old, ...sides] = await Promise.all([ifReadable(base.content()), disk.content(), attempt.content()]);
  if (old === undefined || [old, ...sides].some(isBinary)) return { conflict: 'binary' };
  const content = await mergeLines(old, ...sides);
  if (content === undefined) return { conflict: 'content' };
  return { state: { kind: 'file', mode, size: content.length, hash: hashOf(content) }, content };
}

async function withContent(state: EntryState | null, { content }: Side): Promise<Merged> {
  return state?.kind === 'file' ? { state, content: await content() } : { state };
}

/**
 * Merges modes. Returns undefined if both sides changed the mode in different ways. For a directory that both created,
 * and for symlinks, returns the mode of the first side.
 */
function mergeModes(base: EntryState | null, a: EntryState, b: EntryState): number | undefined {
  const [x, y] = [permissionsOf(a), permissionsOf(b)];
  if (x === y || b.kind === 'symlink') return x;
  if (base === null) return b.kind === 'directory' ? x : undefined;
  const o = permissionsOf(base);
  return x === o ? y : y === o ? x : undefined;
}

/** Bytes at the start of a content that are searched for NUL, as in git. */
const BINARY_PROBE_BYTES = 8_000;

function isBinary(content: Uint8Array): boolean {
  return content.subarray(0, BINARY_PROBE_BYTES).includes(0);
}

/** Merges three texts by lines. Returns undefined if there is a conflict, as `git merge-file` decides. */
export async function mergeLines(
  base: Uint8Array,
  disk: Uint8Array,
  attempt: Uint8Array,
): Promise<Uint8Array | undefined> {
  const { mergeText } = await import('@scratchfs/history');
  const merged = mergeText(base, disk, attempt, { algorithm: 'myers', joinAcrossPunctuation: true });
  return merged.conflicts === 0 ? merged.bytes : undefined;
}
