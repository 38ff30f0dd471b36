import { isWithin } from '@scratchfs/core';
import { comparePaths } from '@scratchfs/core/internal';
import { InputError } from '@scratchfs/tools';
import type { AcceptOptions, AcceptResult, Conflict, EntryState, PathDiff } from '@scratchfs/workspace';
import type { OpenAttempt } from '../server/shared-workspace.js';
import { conflictLines, counted, diffText, firstNamed, nameOf, statText } from './format.js';
import type { Plan } from './server-tool.js';
import { visibleOnly } from './visible.js';

/**
 * Maximum lengths of what a form shows, in UTF-16 units: options with paths; differences of all files; commit message.
 */
const MAX_SHOWN_LENGTH = 8_000;
const MAX_DIFF_LENGTH = 8_000;
const MAX_MESSAGE_LENGTH = 2_000;
/** Maximum number of paths in one removed directory that a form names. */
const MAX_NAMED_INSIDE = 100;

export interface AcceptInput {
  readonly as: 'apply' | 'merge' | 'branch' | 'patch';
  readonly paths?: readonly string[];
  readonly branch?: string;
  readonly message?: string;
  readonly skip_conflicts: boolean;
  readonly dry_run: boolean;
}

/** An accept that fails because of conflicts, which the message names. */
export class ConflictError extends InputError {
  constructor(
    message: string,
    readonly conflicts: readonly Conflict[],
  ) {
    super([message, ...conflictLines(conflicts)].join('\n'));
  }
}

/**
 * Plans an accept, with all that a person needs to see before a yes.
 * @throws InputError if the accept would fail, or contains changes that are hidden or do not fit in the form
 */
export async function planAccept(
  { dry_run: isDry, ...input }: Partial<AcceptInput>,
  { attempt, sandbox }: OpenAttempt,
  signal: AbortSignal,
): Promise<Plan> {
  const { as = 'apply', paths, branch, message } = input;
  if (branch !== undefined && as !== 'branch') throw new InputError('branch is only for as: branch.');
  const onConflict: AcceptOptions['onConflict'] = input.skip_conflicts === true ? 'skip' : 'fail';
  const isOutside = isDry !== true && as !== 'patch';
  const { paths: found, head } = await attempt.diff({ paths, hunks: isOutside, signal });
  const { shown: visible, hidden } = await visibleOnly(found, { attempt, sandbox }, signal);
  if (hidden > 0)
    throw new InputError(
      `${counted(hidden, 'changed path')} of these cannot be accepted here, because this server hides them. Name others in paths, or ask the user to accept in a terminal.`,
    );
  if (!isOutside) return { head, isOutside, shown: '' };
  const list = pathLines(visible).join('\n');
  if ((message ?? '').length > MAX_MESSAGE_LENGTH)
    throw new InputError(`message may have ${MAX_MESSAGE_LENGTH} characters, so that the user sees it whole.`);
  const call = { as, paths, branch, message, onConflict, expect: head, signal };
  const dry = await attempt.accept({ ...call, dryRun: true });
  if (!dry.success) throw new ConflictError(dry.message, dry.conflicts);
  if (dry.accepted.length === 0)
    return {
      head,
      isOutside: false,
      shown: '',
      nothing: { ...dry, message: `${dry.message}${stayText(visible, dry)}` },
    };
  const lines: string[] = [];
  // The name of an attempt is the name of its branch if none is given.
  if (as === 'branch') lines.push(`Branch: ${nameOf(branch ?? attempt.name)}`);
  if (message !== undefined) lines.push(`Message: ${nameOf(message)}`);
  if (onConflict === 'skip') lines.push('Paths with conflicts are left out:', ...conflictLines(dry.conflicts));
  if (dry.autoRun.length > 0) lines.push(`Programs run these on their own: ${dry.autoRun.map(nameOf).join(', ')}`);
  const shown = [...lines, list].join('\n');
  if (shown.length > MAX_SHOWN_LENGTH)
    throw new InputError(
      `The user could not see all ${counted(visible.length, 'changed path')} in a form. Accept some of them at a time: name them in paths.`,
    );
  return { head, isOutside, shown, diff: sharedDiff(visible) };
}

/** Returns advice about removed directories that stay on the disk; an empty text if there are none. */
function stayText(diffs: readonly PathDiff[], { conflicts }: AcceptResult): string {
  const stay = diffs
    .filter(({ type, files }) => type === 'removed' && files !== undefined)
    .map(({ path }) => path)
    .filter((top) => !conflicts.some(({ path }) => isWithin(path, top)));
  if (stay.length === 0) return '';
  const names = firstNamed(stay.map((path) => ({ path }))).map(({ path }) => nameOf(path));
  const more = names.length < stay.length ? ', …' : '';
  return `\nOnly the attempt shows them as removed: ${names.join(', ')}${more}. To show them again, call undo with to: 0 and path. To delete them, the user removes on the disk what is in them.`;
}

/**
 * Returns lines for each path. Of the removed paths in a removed directory, those beyond the maximum are only counted.
 */
export function pathLines(diffs: readonly PathDiff[]): string[] {
  const lines: string[] = [];
  let [top, inside]: [string | undefined, number] = [undefined, 0];
  const endOf = (): void => {
    if (top !== undefined && inside > MAX_NAMED_INSIDE)
      lines.push(`and ${inside - MAX_NAMED_INSIDE} more under ${nameOf(top)}`);
  };
  // In plain order, `/a-b` would come between `/a` and `/a/c`.
  for (const diff of [...diffs].sort((a, b) => comparePaths(a.path, b.path))) {
    if (top === undefined || !isWithin(diff.path, top)) {
      endOf();
      [top, inside] = [diff.files === undefined ? undefined : diff.path, 0];
    } else if (++inside > MAX_NAMED_INSIDE && diff.type === 'removed') continue;
    lines.push(statText([diff]), ...detailsOf(diff));
  }
  endOf();
  return lines;
}

/** Returns lines for what a unified diff does not show: targets of links, and modes. */
function detailsOf({ path, before, after }: PathDiff): string[] {
  const lines: string[] = [];
  if (after?.kind === 'symlink') lines.push(`  ${nameOf(path)} links to ${nameOf(after.target ?? '')}`);
  const [old, now] = [modeOf(before), modeOf(after)];
  if (now !== undefined && now !== (old ?? usualMode(after)))
    lines.push(`  ${nameOf(path)} mode ${old === undefined ? '' : `${old} -> `}${now}`);
  return lines;
}

function modeOf(state: EntryState | null): string | undefined {
  return state === null || state.kind === 'symlink' ? undefined : state.mode.toString(8).padStart(3, '0');
}

function usualMode(state: EntryState | null): string {
  return state?.kind === 'directory' ? '755' : '644';
}

/**
 * Formats differences, with the same share of the length for each file; what short ones do not use goes to longer ones.
 */
export function sharedDiff(diffs: readonly PathDiff[]): string {
  const texts = diffs.filter(({ hunks }) => hunks.length > 0).map((diff) => diffText([diff]));
  const bySize = [...texts.keys()].sort((a, b) => (texts[a] as string).length - (texts[b] as string).length);
  let left = MAX_DIFF_LENGTH;
  bySize.forEach((index, rank) => {
    const text = texts[index] as string;
    const share = Math.floor(left / (bySize.length - rank));
    const isCut = text.length > share;
    texts[index] = isCut
      ? `${text.slice(0, share).toWellFormed()}\n[This file's difference is longer: the tool diff shows it.]`
      : text;
    left -= Math.min(share, text.length);
  });
  return texts.join('\n');
}
