import type { SyncFileSystem } from 'scratchfs';
import type { Task } from './choose-task.js';
import type { Report } from './report.js';
import type { SourceTree } from './source-tree.js';
import type { Problem, VirtualCompiler } from './virtual-compiler.js';

/** State that the chapters of the demo pass on. */
export interface Stage {
  readonly report: Report;
  readonly tree: SourceTree;
  readonly fs: SyncFileSystem;
}

/** The state once the agent knows its task. */
export interface Workshop extends Stage {
  readonly compiler: VirtualCompiler;
  readonly task: Task;
  /** Compiler errors of the original tree, caused by missing packages. */
  readonly known: readonly Problem[];
}

/** Returns the files that the agent has to keep intact. */
export function concerned({ declaredIn, usedIn }: Task): string[] {
  return [declaredIn, ...usedIn.filter((path) => path !== declaredIn)];
}
