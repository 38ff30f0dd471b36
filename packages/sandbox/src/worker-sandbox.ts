import { openInMemory } from '@scratchfs/core';
import { parseDeriveOptions } from './derive.js';
import { Sandbox } from './sandbox.js';

/**
 * Returns the sandbox of a worker by its definition: derived from that of its program, or of the calling worker.
 * Without such a sandbox it has no access at all.
 *
 * @param definition fields of `DeriveOptions` such as `inherit` and `allow_read`, as plain data in snake_case or
 *   camelCase
 * @throws TypeError, RangeError for an invalid definition
 * @throws SandboxPermissionEscalationError if it requests more access than the parent has
 * @example
 * ```ts
 * import { createFileSystem } from 'scratchfs';
 * import { Sandbox, workerSandbox } from '@scratchfs/sandbox';
 *
 * const program = new Sandbox(createFileSystem({ files: { '/src/a': 'x' } }), { root: { root: '.' } });
 * const worker = await workerSandbox(program, { allow_read: ['/src'] });
 * console.log(worker.readableRoots, worker.writableRoots); // → [ '/src' ] []
 * console.log((await workerSandbox(undefined, { inherit: true })).readableRoots); // → []
 * ```
 */
export async function workerSandbox(parent: Sandbox | undefined, definition: unknown = {}): Promise<Sandbox> {
  const options = parseDeriveOptions(definition);
  return parent === undefined ? new Sandbox(openInMemory({ clock: () => 0 }), { paths: {} }) : parent.derive(options);
}
