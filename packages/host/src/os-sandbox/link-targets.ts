import type { Sandbox } from '@scratchfs/sandbox';

/** Path of the sandbox as its commands see it. */
export const INSIDE = '/work';

/**
 * Returns a link's target as a command has to read it: an absolute target within the sandbox begins with {@link
 * INSIDE}.
 */
export function targetInside(sandbox: Sandbox, target: string): string {
  const shown = target.startsWith('/') ? sandbox.show(target) : undefined;
  return shown === undefined ? target : `${INSIDE}/${shown.replace(/^\//, '')}`;
}

/**
 * Returns the target in the filesystem of a link that a command made.
 * @throws PathNotInSandboxError for a path under {@link INSIDE} that is not one of the sandbox
 */
export function targetOutside(sandbox: Sandbox, target: string): string {
  if (target !== INSIDE && !target.startsWith(`${INSIDE}/`)) return target;
  // Relative, so that the rest is only names, without a drive or share.
  return sandbox.locate(`.${target.slice(INSIDE.length)}`);
}
