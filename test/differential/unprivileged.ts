import type { OperationName, Step } from '@scratchfs/testkit';

/** True if the disk lets this process do what only root may: change owners and bypass modes. */
export const isRoot = process.getuid?.() === 0;

/** Operations that only root may run. */
export const ROOT_OPERATIONS: readonly OperationName[] = ['chown', 'lchown'];

/**
 * Returns an equivalent step that an ordinary user may run. Modes and owners are stored here and never enforced, but a
 * disk enforces them for everyone except root. Without root, modes keep the bits that the owner needs, and owners stay.
 */
export function allowed(step: Step): Step {
  if (isRoot) return step;
  if (step.op === 'chown' || step.op === 'lchown') return { op: 'lstat', args: { path: step.args.path } };
  if (step.op === 'access' || !('mode' in step.args)) return step;
  return { ...step, args: { ...step.args, mode: (step.args.mode & 0o777) | 0o700 } } as Step;
}
