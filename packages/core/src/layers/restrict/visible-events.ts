import type { EntryKind } from '../../entry.js';
import type { WatchEvent } from '../../file-system.js';

export interface Visibility {
  /** Resolves if the path may be watched. It is called before the first event. */
  reach(): Promise<unknown>;
  isVisible(path: string, kind: EntryKind): boolean;
  /** Returns the kind of an entry; undefined if it does not exist. */
  kindOf(path: string): Promise<EntryKind | undefined>;
}

/**
 * Filters a watcher's events: a name moved in from an invisible place is new, one moved to an invisible place is
 * removed. Events have no kind: it is looked up if it decides whether the entry is visible. If such an entry no longer
 * exists, its name is not shown.
 */
export function visibleEvents(
  events: AsyncIterableIterator<WatchEvent>,
  root: string,
  visibility: Visibility,
): AsyncIterableIterator<WatchEvent> {
  let reached: Promise<unknown> | undefined;
  const shown: AsyncIterableIterator<WatchEvent> = {
    async next() {
      reached ??= visibility.reach();
      await reached.catch(async (error: unknown) => {
        await events.return?.();
        throw error;
      });
      for (;;) {
        const result = await events.next();
        if (result.done) return result;
        const value = await visibleEvent(result.value, root, visibility);
        if (value !== undefined) return { done: false, value };
      }
    },
    return: async (value?: unknown) => events.return?.(value) ?? { done: true, value },
    [Symbol.asyncIterator]: () => shown,
  };
  return shown;
}

async function visibleEvent(event: WatchEvent, root: string, visibility: Visibility): Promise<WatchEvent | undefined> {
  const { type, path, from } = event;
  const paths = from === undefined ? [path] : [path, from];
  const byKind = (kind: EntryKind): boolean[] => paths.map((at) => visibility.isVisible(at, kind));
  const [asFile, asDirectory] = [byKind('file'), byKind('directory')];
  let seen = asFile.map((isSeen, i) => isSeen && asDirectory[i] === true);
  if (type === 'overflow') return seen[0] === true ? event : { type, path: root };
  if (asFile.some((isSeen, i) => isSeen !== asDirectory[i])) {
    const kind = await visibility.kindOf(path);
    if (kind !== undefined) seen = byKind(kind);
  }
  const [isThere, wasThere] = seen;
  if (from === undefined) return isThere === true ? event : undefined;
  if (isThere === true) return wasThere === true ? event : { type: 'create', path };
  return wasThere === true ? { type: 'remove', path: from } : undefined;
}
