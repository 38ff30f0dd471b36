import { baseName, type WatchEvent } from '@scratchfs/core';
import { encodeName, type Given, nameEncoding } from './arguments/options.js';
import { toPath } from './arguments/paths.js';
import { checkBoolean } from './arguments/values.js';
import type { Facade } from './node-function.js';

/** An event of `fs.watch`: a name was added or removed (`rename`), or the entry under a name changed (`change`). */
export interface NodeWatchEvent {
  readonly eventType: 'rename' | 'change';
  /**
   * Name relative to the watched directory, or the last name of the watched path if its own entry changed. Null if
   * changes may have been lost, or the whole state was replaced.
   */
  readonly filename: string | Uint8Array | null;
}

export interface WatchCall {
  readonly path: string;
  readonly recursive: boolean;
  readonly encoding: string;
}

/** Checks the arguments of both forms of `watch`. */
export function toWatchCall(path: unknown, options: Given): WatchCall {
  const { recursive = false } = options;
  return {
    path: toPath(path),
    recursive: checkBoolean(recursive, 'options.recursive'),
    encoding: nameEncoding(options),
  };
}

/** Yields changes at or under a path, which must contain no links, from the call on. */
export function watchEvents(
  { driver, platform }: Facade,
  { path, recursive, encoding }: WatchCall,
  signal: AbortSignal,
): AsyncIterable<NodeWatchEvent> {
  const name = (at: string): string | Uint8Array => encodeName(nameWithin(path, at), encoding, platform);
  return translate(driver.watch(path, { recursive, signal }), name);
}

async function* translate(
  events: AsyncIterable<WatchEvent>,
  name: (at: string) => string | Uint8Array,
): AsyncGenerator<NodeWatchEvent, void, undefined> {
  for await (const { type, path, from, hasContent } of events) {
    if (type === 'overflow') yield { eventType: 'rename', filename: null };
    else {
      if (from !== undefined) yield { eventType: 'rename', filename: name(from) };
      yield { eventType: type === 'modify' ? 'change' : 'rename', filename: name(path) };
      // The kernel reports two events for what the filesystem does in one step.
      if (hasContent) yield { eventType: 'change', filename: name(path) };
    }
  }
}

function nameWithin(root: string, path: string): string {
  return path === root ? baseName(path) : path.slice(root === '/' ? 1 : root.length + 1);
}
