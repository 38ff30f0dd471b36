import type { BackendCall } from '../backend.js';
import { withMayHaveHappened } from '../engine/remote/may-have-happened.js';
import type { Heads } from './heads.js';
import { groupNames, listNames } from './list-names.js';
import { FORKS, isObjectName, OBJECTS } from './object-name.js';
import type { ObjectStore } from './object-store.js';
import { isPendingList, PENDING_DELETES } from './pending-deletes.js';
import { PRIORITY_REQUEST } from './priority-request.js';
import type { StoreCalls } from './store-calls.js';

/**
 * Deletes the objects of a filesystem and its forks, then its head. The head goes last: until then no client creates
 * another filesystem, whose objects would be deleted too, and after a failure another call can delete the rest.
 *
 * Another client may delete the filesystem first, and a third one create another in its place. So each request that
 * deletes is preceded by a check that the head still belongs to the same filesystem. A replacement between the check
 * and the request is not noticed.
 * @throws StorageError, such as `lost` if another filesystem has replaced the known one
 */
export async function deleteFileSystem(
  store: ObjectStore,
  calls: StoreCalls,
  heads: Heads,
  deleteHead: NonNullable<ObjectStore['deleteHead']>,
  signal: AbortSignal | undefined,
): Promise<void> {
  let hasBegun = false;
  const deleting = (work: (call: BackendCall) => Promise<void>): Promise<void> =>
    calls.retrying(signal, async (call) => {
      await heads.checkIdentity(call);
      hasBegun = true;
      await work(call);
    });
  try {
    const names: string[] = [];
    // The names of another filesystem in the same store may begin with these prefixes.
    for (const prefix of [OBJECTS, FORKS, PENDING_DELETES])
      for (const name of await listNames(store, calls, prefix, signal))
        if (isObjectName(name) || isPendingList(name)) names.push(name);
    for (const group of groupNames(names, store)) await deleting((call) => store.delete(group, call));
    await deleting((call) => store.delete([PRIORITY_REQUEST], call));
    await deleting((call) => deleteHead.call(store, call));
  } catch (error) {
    throw hasBegun ? error : withMayHaveHappened(error, false);
  }
}
