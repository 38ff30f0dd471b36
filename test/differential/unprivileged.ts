import type { OperationName, Step } from '@scratchfs/testkit';

/** Whether the disk lets this process do what only root may: give files away, and pass over modes. */
export const isRoot = process.getuid?.() === 0;

/** What only root can do at all. */
export const ROOT_OPERATIONS: readonly OperationName[] = ['chown', 'lchown'];

/**
 * Modes and owners are stored here and never enforced; a disk enforces them for everybody but root. Where this process
 * is not root, both sides are asked the same in a form that is allowed: modes keep what the owner needs, and owners stay.
 */
export function allowed(step: Step): Step {
  if (isRoot) return step;
  if (step.op === 'chown' || step.op === 'lchown') return { op: 'lstat', args: { path: step.args.path } };
  if (step.op === 'access' || !('mode' in step.args)) return step;
  return { ...step, args: { ...step.args, mode: (step.args.mode & 0o777) | 0o700 } } as Step;
}
