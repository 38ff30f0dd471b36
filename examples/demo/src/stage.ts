import type { SyncFileSystem } from 'scratchfs';
import type { Task } from './choose-task.js';
import type { Report } from './report.js';
import type { SourceTree } from './source-tree.js';
import type { Problem, VirtualCompiler } from './virtual-compiler.js';

/** What the chapters of the demo hand on to each other. */
export interface Stage {
  readonly report: Report;
  readonly tree: SourceTree;
  readonly fs: SyncFileSystem;
}

/** A stage on which the agent knows what it has to do. */
export interface Workshop extends Stage {
  readonly compiler: VirtualCompiler;
  readonly task: Task;
  /** What the compiler says of the tree as it was given, for want of the packages it needs. */
  readonly known: readonly Problem[];
}

/** The files that the agent has to keep intact. */
export function concerned({ declaredIn, usedIn }: Task): string[] {
  return [declaredIn, ...usedIn.filter((path) => path !== declaredIn)];
}
