import { baseName, type WatchEvent } from '@scratchfs/core';
import { encodeName, type Given, nameEncoding } from './arguments/options.js';
import { toPath } from './arguments/paths.js';
import { checkBoolean } from './arguments/values.js';
import type { Facade } from './operation.js';

/** What `fs.watch` says: a name came or went (`rename`), or what it stands for changed. */
export interface NodeWatchEvent {
  readonly eventType: 'rename' | 'change';
  /** Relative to the watched directory; of a watched file its own name; null where changes were lost. */
  readonly filename: string | Uint8Array | null;
}

export interface WatchCall {
  readonly path: string;
  readonly recursive: boolean;
  readonly encoding: string;
}

/** What is asked for by `watch`, in both of its forms. */
export function toWatchCall(path: unknown, options: Given): WatchCall {
  const { recursive = false } = options;
  return {
    path: toPath(path),
    recursive: checkBoolean(recursive, 'options.recursive'),
    encoding: nameEncoding(options),
  };
}

/** Changes at or beneath a path that is free of links, from the call on. */
export function watchEvents(
  { door, platform }: Facade,
  { path, recursive, encoding }: WatchCall,
  signal: AbortSignal,
): AsyncIterable<NodeWatchEvent> {
  const name = (at: string): string | Uint8Array => encodeName(nameWithin(path, at), encoding, platform);
  return translate(door.watch(path, { recursive, signal }), name);
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
      // What the filesystem does in one step the kernel does in two, and tells of both.
      if (hasContent) yield { eventType: 'change', filename: name(path) };
    }
  }
}

function nameWithin(root: string, path: string): string {
  return path === root ? baseName(path) : path.slice(root === '/' ? 1 : root.length + 1);
}
