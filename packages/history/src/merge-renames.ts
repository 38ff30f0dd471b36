import { compareNames } from '@scratchfs/core';
import type { Conflicts } from './merge-conflicts.js';
import type { ContentMerge } from './merge-content.js';
import type { SideRenames } from './merge-sides.js';
import { type BothStages, isSame, kindOf, type MergePath } from './merge-stages.js';

type Side = 'ours' | 'theirs';

/** Combines the paths of renamed files: if one side renamed a file, the other side's change applies to the new path. */
export class RenameMerge {
  constructor(
    readonly paths: ReadonlyMap<string, MergePath>,
    readonly content: ContentMerge,
    readonly conflicts: Conflicts,
  ) {}

  async follow({ files: byUs }: SideRenames, { files: byThem }: SideRenames): Promise<void> {
    for (const from of [...new Set([...byUs.keys(), ...byThem.keys()])].sort(compareNames)) {
      const source = this.paths.get(from);
      const [ours, theirs] = [byUs.get(from), byThem.get(from)];
      if (source === undefined) continue;
      if (ours !== undefined && theirs !== undefined) await this.#both(from, source, ours, theirs);
      else if (ours !== undefined) await this.#one(from, source, ours, 'ours');
      else if (theirs !== undefined) await this.#one(from, source, theirs, 'theirs');
    }
  }

  async #both(from: string, source: MergePath, ourPath: string, theirPath: string): Promise<void> {
    const [left, right] = [this.paths.get(ourPath), this.paths.get(theirPath)];
    if (left?.ours === undefined || right?.theirs === undefined) return;
    if (left === right) {
      left.base = source.base;
      return leave(source);
    }
    const stages = { base: source.base, ours: left.ours, theirs: right.theirs };
    const names = { base: from, ours: ourPath, theirs: theirPath };
    const { entry, conflict } = await this.content.merge(from, names, stages, true);
    this.conflicts.add(from, 'rename/rename', stages);
    left.contested = true;
    right.contested = true;
    // The contents could not be merged, and ours was kept: then each path keeps its own content.
    const isApart = conflict !== undefined && isSame(entry, left.ours);
    left.ours = entry;
    if (!isApart) right.theirs = entry;
  }

  async #one(from: string, source: MergePath, to: string, side: Side): Promise<void> {
    const other = side === 'ours' ? 'theirs' : 'ours';
    const target = this.paths.get(to);
    const [renamed, changed] = [target?.[side], source[other]];
    if (target === undefined || renamed === undefined || isSame(changed, source.base)) return;
    const stages = { base: source.base, ours: renamed, theirs: renamed, [other]: changed };
    if (changed === undefined) {
      this.conflicts.add(to, 'rename/delete', stages);
      target.contested = true;
      if (target[other] === undefined) rebase(target, source, from);
      return leave(source, other);
    }
    if (kindOf(renamed.mode) !== kindOf(changed.mode)) {
      // The other side's entry has another kind and stays at the old path.
      if (target[other] === undefined) this.conflicts.add(to, 'type', stages);
      target.contested = true;
      rebase(target, source, from);
      source.base = undefined;
      return;
    }
    if (target[other] === undefined) {
      rebase(target, source, from);
      target[other] = changed;
      target.names = { ...target.names, [other]: from };
    } else {
      const wasSame = isSame(target.ours, target.theirs);
      const names = { base: from, ours: from, theirs: from, [side]: to };
      const { entry, conflict } = await this.content.merge(to, names, stages as BothStages, true);
      target[side] = entry;
      // If both sides had equal entries at the target, git takes ours for both. If theirs renamed the file, that would
      // lose a change of ours, so in this case it is done only in merges of common ancestors.
      if (wasSame && (side === 'ours' || this.content.depth > 0)) target.theirs = target.ours;
      if (conflict !== undefined) this.conflicts.add(to, conflict, stages);
    }
    leave(source, other);
  }
}

function rebase(target: MergePath, source: MergePath, from: string): void {
  target.base = source.base;
  target.names = { ...target.names, base: from };
}

/** Removes a file from its old path. Another entry that a side has created there stays. */
function leave(source: MergePath, other?: Side): void {
  source.base = undefined;
  if (other !== undefined) source[other] = undefined;
}
