import type { McpServer } from '@modelcontextprotocol/server';
import type { Operation } from '@scratchfs/workspace';
import { uriOf } from './uri.js';

/** Maximum number of resources that a client of a revision with a handshake can subscribe to. */
const MAX_SUBSCRIBED = 1000;

/** Receives the URI of a resource that has changed. */
export type ResourceListener = (uri: string) => void;

/** Tells connections which resources the operations of this process have changed. */
export class Subscriptions {
  readonly #listeners = new Set<ResourceListener>();

  /** Returns a function that ends it. */
  listen(listener: ResourceListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  announce(operations: readonly Operation[]): void {
    if (this.#listeners.size === 0) return;
    for (const { attempt, changes } of operations)
      for (const { path, from } of changes)
        for (const changed of from === undefined ? [path] : [from, path])
          for (const listener of this.#listeners) listener(uriOf(attempt, changed));
  }

  /** Serves the subscriptions of a lasting connection. */
  serve({ server }: McpServer, era: 'legacy' | 'modern'): void {
    const subscribed = new Set<string>();
    if (era === 'legacy') {
      server.setRequestHandler('resources/subscribe', ({ params }) => {
        if (subscribed.size < MAX_SUBSCRIBED) subscribed.add(params.uri);
        return {};
      });
      server.setRequestHandler('resources/unsubscribe', ({ params }) => {
        subscribed.delete(params.uri);
        return {};
      });
    }
    // In later revisions the entry point of the SDK passes on only what a client listens to.
    const end = this.listen((uri) => {
      if (era === 'modern' || subscribed.has(uri)) void server.sendResourceUpdated({ uri }).catch(() => undefined);
    });
    const { onclose } = server;
    server.onclose = () => {
      end();
      onclose?.();
    };
  }
}
