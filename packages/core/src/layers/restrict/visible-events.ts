import type { WatchEvent } from '../../file-system.js';

/**
 * Filters a watcher's events: a name moved in from an invisible place is new, one moved to an invisible place is
 * removed.
 */
export function visibleEvents(
  events: AsyncIterableIterator<WatchEvent>,
  isVisible: (path: string) => boolean,
): AsyncIterableIterator<WatchEvent> {
  const shown: AsyncIterableIterator<WatchEvent> = {
    async next() {
      for (;;) {
        const result = await events.next();
        if (result.done) return result;
        const value = visibleEvent(result.value, isVisible);
        if (value !== undefined) return { done: false, value };
      }
    },
    return: async (value?: unknown) => events.return?.(value) ?? { done: true, value },
    [Symbol.asyncIterator]: () => shown,
  };
  return shown;
}

function visibleEvent(event: WatchEvent, isVisible: (path: string) => boolean): WatchEvent | undefined {
  const { type, path, from } = event;
  if (type === 'overflow') return event;
  if (from === undefined) return isVisible(path) ? event : undefined;
  const left = isVisible(from);
  if (isVisible(path)) return left ? event : { type: 'create', path };
  return left ? { type: 'remove', path: from } : undefined;
}
