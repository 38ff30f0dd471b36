import { isWithin } from '@scratchfs/core';
import { InputError } from '@scratchfs/tools';
import type { AcceptOptions, AcceptResult, Attempt, PathDiff } from '@scratchfs/workspace';
import { type AcceptInput, planAccept } from './accept-plan.js';
import { conflictLines, counted, diffText, effectLines, nameOf, statText } from './format.js';
import { type ServerTool, type ToolContext, workspaceTool } from './server-tool.js';
import { hiddenLines, visibleOnly } from './visible.js';

const paths = {
  type: 'array',
  description: 'Only these and what is in them.',
  minItems: 1,
  items: { type: 'string' },
} as const;

interface DiffInput {
  readonly from?: number;
  readonly to?: number;
  readonly paths?: readonly string[];
  readonly stat: boolean;
}

export const diff: ServerTool = workspaceTool<DiffInput>({
  name: 'diff',
  description: "Compares the attempt with the user's disk, or two of its operations, as a unified diff.",
  properties: {
    from: { type: 'integer', description: 'Operation. Default: the disk.', minimum: 0 },
    to: { type: 'integer', description: 'Operation. Default: now.', minimum: 0 },
    paths,
    stat: { type: 'boolean', description: 'Only names and counts.', default: false },
  },
  paths: ['paths'],
  effect: 'none',
  isAboutAll: true,
  async run({ from, to, paths: only, stat }, { attempt, sandbox, signal }) {
    const { paths: found } = await attempt.diff({ from, to, paths: only, hunks: !stat, signal });
    if (found.length === 0) return 'There is no difference.';
    const { shown, hidden } = await visibleOnly(found, { attempt, sandbox }, signal);
    const named = only === undefined ? withoutRemoved(shown) : shown;
    const note = named.length < shown.length ? ['[paths shows what is in a removed directory.]'] : [];
    return [stat ? statText(named) : diffText(named), ...note, ...hiddenLines(hidden)].join('\n');
  },
});

/** Leaves out what is in removed directories: their own differences have the number of files. */
function withoutRemoved(diffs: readonly PathDiff[]): PathDiff[] {
  const removed = diffs.filter(({ files }) => files !== undefined).map(({ path }) => path);
  const isInside = (path: string): boolean => removed.some((above) => path !== above && isWithin(path, above));
  return diffs.filter(({ type, path }) => type !== 'removed' || !isInside(path));
}

export const fork: ServerTool = workspaceTool<{ name?: string; at?: number }>({
  name: 'fork',
  description: 'Starts a new attempt with the changes of this one. Pass its name as attempt to work in it.',
  properties: {
    name: { type: 'string', description: 'Default: two words.' },
    at: { type: 'integer', description: 'Operation. Default: now.', minimum: 0 },
  },
  effect: 'attempt',
  changesFiles: false,
  async run({ name, at }, { attempt, signal }) {
    const made = await attempt.fork(name, { at, signal });
    return `Made the attempt ${made.name} from ${attempt.name}.`;
  },
});

export const attempts: ServerTool = workspaceTool<{ compare_with?: string }>({
  name: 'attempts',
  description: 'Lists the attempts, or compares this one with another.',
  properties: { compare_with: { type: 'string', description: 'Name of the other.' } },
  effect: 'none',
  async run({ compare_with: name }, { attempt, sandbox, workspace, settings, signal }) {
    if (name !== undefined) {
      const other = await workspace.attempt(name, { signal });
      const { paths: found } = await attempt.diff({ to: other, hunks: true, signal });
      if (found.length === 0) return 'They do not differ.';
      const { shown, hidden } = await visibleOnly(found, { attempt, sandbox }, signal);
      return [diffText(shown), ...hiddenLines(hidden)].join('\n');
    }
    const known = await workspace.attempts({ signal });
    const all = known.filter(({ state }) => state !== 'discarded');
    if (all.length === 0) return 'There is no attempt yet: the first change makes one.';
    // Calls that name no attempt use it.
    const current = settings.attempt ?? (await workspace.attempt(undefined, { signal })).name;
    return all
      .map(({ name: each, head, changedPaths }) =>
        [each, each === current ? '(current)' : '', counted(head, 'operation'), counted(changedPaths, 'changed path')]
          .filter((word) => word !== '')
          .join(' '),
      )
      .join('\n');
  },
});

export const accept: ServerTool = workspaceTool<AcceptInput>({
  name: 'accept',
  description:
    "Brings the attempt's changes to the user, who is asked first: into the work tree (apply), merged into their git branch (merge), as a new branch (branch), or as text for git apply (patch).",
  properties: {
    as: { type: 'string', description: 'Default apply.', enum: ['apply', 'merge', 'branch', 'patch'] },
    paths,
    branch: { type: 'string', description: 'Name, for branch.' },
    message: { type: 'string', description: 'Of the commit.' },
    skip_conflicts: { type: 'boolean', description: 'Accept what has none.', default: false },
    dry_run: { type: 'boolean', description: 'Only say what would happen.', default: false },
  },
  paths: ['paths'],
  effect: 'outside',
  isAboutAll: true,
  plan: (input, open, signal) => planAccept(input as Partial<AcceptInput>, open, signal),
  async run(input, context) {
    const { attempt, plan } = context;
    const result = plan?.nothing ?? (await attempt.accept({ ...acceptOptions(input), ...acceptCall(context) }));
    const { conflicts, patch } = result;
    // git apply skips the line before the patch. The server names the conflicts after it.
    if (patch !== undefined) {
      const left =
        conflicts.length === 0 ? '' : `Left out because of conflicts: ${counted(conflicts.length, 'path')}.\n`;
      return { text: left + new TextDecoder().decode(patch), refreshed: { merged: [], conflicts } };
    }
    return { text: acceptText(result, input, attempt), operations: operationsOf(result), conflicts };
  },
});

function acceptOptions({ as, paths: only, branch, message, skip_conflicts, dry_run }: AcceptInput): AcceptOptions {
  if (branch !== undefined && as !== 'branch') throw new InputError('branch is only for as: branch.');
  return { as, paths: only, branch, message, onConflict: skip_conflicts ? 'skip' : 'fail', dryRun: dry_run };
}

function acceptCall({ actor, plan, signal }: ToolContext): AcceptOptions {
  return { actor, expect: plan?.head, signal };
}

function operationsOf({ operation }: AcceptResult): NonNullable<AcceptResult['operation']>[] {
  return operation === undefined ? [] : [operation];
}

/** Maximum number of paths that the result of an accept names. */
const MAX_ACCEPTED = 50;

function acceptText(result: AcceptResult, { dry_run: isDry }: AcceptInput, { name }: Attempt): string {
  const { success, message, changes, conflicts, autoRun, commit } = result;
  const lines = [message];
  if (isDry) lines.push('Nothing was changed: this was a dry run.');
  if (commit !== undefined) lines.push(`Commit ${commit}.`);
  lines.push(...effectLines(changes, MAX_ACCEPTED, isDry ? 'would accept ' : 'accepted '));
  lines.push(...conflictLines(conflicts));
  if (autoRun.length > 0)
    lines.push(`Programs run these on their own, so tell the user to review them: ${autoRun.map(nameOf).join(', ')}`);
  if (!success) lines.push(`The attempt ${name} is as it was.`);
  return lines.join('\n');
}
