import type { Sandbox } from '@scratchfs/sandbox';

/** Where a sandbox lies for its commands. */
export const INSIDE = '/work';

/** A link's target as a command has to read it: an absolute one that leads into the sandbox begins at {@link INSIDE} there. */
export function targetInside(sandbox: Sandbox, target: string): string {
  const shown = target.startsWith('/') ? sandbox.show(target) : undefined;
  return shown === undefined ? target : `${INSIDE}/${shown.replace(/^\//, '')}`;
}

/**
 * The target in the filesystem of a link that a command made.
 * @throws PathNotInSandboxError for a place at {@link INSIDE} that the filesystem does not have
 */
export function targetOutside(sandbox: Sandbox, target: string): string {
  if (target !== INSIDE && !target.startsWith(`${INSIDE}/`)) return target;
  // Relative, so that what follows is names and nothing else: no drive, no share.
  return sandbox.locate(`.${target.slice(INSIDE.length)}`);
}
