import { FORKS, isObjectName, OBJECTS } from './object-name.js';
import type { ObjectStore } from './object-store.js';
import { isPendingList, PENDING_DELETES } from './pending-deletes.js';
import { PRIORITY_REQUEST } from './priority-request.js';
import type { StoreCalls } from './store-calls.js';

/**
 * Deletes the objects of a filesystem and its forks, then its head. The head goes last: until then no client creates another
 * filesystem, whose objects would be deleted too, and after a failure the rest is deleted by another call.
 */
export async function deleteFileSystem(
  store: ObjectStore,
  calls: StoreCalls,
  deleteHead: NonNullable<ObjectStore['deleteHead']>,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const prefix of [OBJECTS, FORKS, PENDING_DELETES]) {
    let after: string | undefined;
    for (;;) {
      const page = await calls.retrying(signal, (call) => store.list(prefix, after, call));
      // The prefix of another filesystem may begin with this one.
      const names = page.names.filter((name) => isObjectName(name) || isPendingList(name));
      if (names.length > 0) await calls.retrying(signal, (call) => store.delete(names, call));
      if (page.complete) break;
      after = page.names.at(-1);
    }
  }
  await calls.retrying(signal, (call) => store.delete([PRIORITY_REQUEST], call));
  await calls.retrying(signal, (call) => deleteHead.call(store, call));
}
