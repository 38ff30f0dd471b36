import { withoutPassword } from '@scratchfs/core/internal';
import type { Call } from '../table/command-spec.js';
import { withAttemptTarget } from './attempt-target.js';
import { type Access, openStore } from './open-store.js';
import type { Target } from './store.js';
import { storedPath } from './stored-path.js';
import { inParts } from './unfinished.js';

/**
 * Opens the target of a call, calls `use` with it, and closes it. It is an attempt if `--attempt` is given or `--store`
 * is not, otherwise the storage that `--store` names.
 */
export async function withTarget<T>(call: Call, access: Access, use: (target: Target) => Promise<T>): Promise<T> {
  const name = call.options.text('store');
  if (name === undefined || call.options.text('attempt') !== undefined) return withAttemptTarget(call, use);
  const at = call.options.text('at');
  const store = await openStore(name, call.directory, access);
  try {
    const fileSystem = at === undefined ? store.fileSystem : await store.fileSystem.at(at, { signal: call.signal });
    return await use({
      fileSystem,
      path: (argument) => storedPath(argument),
      async change(_, work) {
        const value = fileSystem.capabilities.transactions
          ? await fileSystem.transaction(work, { signal: call.signal })
          : await inParts(call, withoutPassword(name), () => work(fileSystem));
        await store.save();
        return value;
      },
    });
  } finally {
    await store.close();
  }
}
