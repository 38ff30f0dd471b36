import { type McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Operation, WorkspaceEvent } from '@scratchfs/workspace';
import { uriOf } from './uri.js';

/** Maximum number of resources that a connection of a revision with a handshake can subscribe to. */
const MAX_SUBSCRIBED = 1000;
/** Maximum length in UTF-16 units of the URI of such a resource. */
const MAX_URI_LENGTH = 4096;

/** Receives the URI of a resource that has changed. */
export type ResourceListener = (uri: string) => void;

/**
 * Notifies connections of the resources that operations of a workspace have changed, also operations of other
 * processes. The workspace's events are followed only while a client listens, because that reads the store again and
 * again.
 */
export class Subscriptions {
  readonly #events: (signal: AbortSignal) => Promise<AsyncIterable<WorkspaceEvent>>;
  readonly #isShown: (attempt: string, path: string) => Promise<boolean>;
  readonly #listeners = new Set<ResourceListener>();
  /** Functions that begin the notifications of stdio connections without a handshake. */
  readonly #beginnings = new Set<() => void>();
  #isListenedTo = false;
  #following: AbortController | undefined;

  /** @param isShown reports whether the server shows a path of an attempt: clients are not notified of others */
  constructor(
    events: (signal: AbortSignal) => Promise<AsyncIterable<WorkspaceEvent>>,
    isShown: (attempt: string, path: string) => Promise<boolean>,
  ) {
    this.#events = events;
    this.#isShown = isShown;
  }

  /** Calls a listener with the URI of each resource that changes. Returns a function that stops this. */
  listen(listener: ResourceListener): () => void {
    // The same function may listen twice.
    const own: ResourceListener = (uri) => listener(uri);
    this.#listeners.add(own);
    if (this.#following === undefined) void this.#follow();
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size === 0) this.#following?.abort();
    };
  }

  async #follow(): Promise<void> {
    const following = new AbortController();
    this.#following = following;
    following.signal.addEventListener('abort', () => {
      if (this.#following === following) this.#following = undefined;
    });
    try {
      for await (const event of await this.#events(following.signal))
        if (event.type === 'operation' && !following.signal.aborted) await this.#announce(event.operation);
    } catch {
      // Notifications stop until the next call of `listen`.
    } finally {
      following.abort();
    }
  }

  async #announce({ attempt, changes }: Operation): Promise<void> {
    for (const { path, from } of changes)
      for (const changed of from === undefined ? [path] : [from, path])
        if (await this.#isShown(attempt, changed))
          for (const listener of this.#listeners) listener(uriOf(attempt, changed));
  }

  /** Serves the subscriptions of a connection that lasts for more than one request. */
  serve({ server }: McpServer, era: 'legacy' | 'modern'): void {
    const subscribed = new Set<string>();
    let stop: (() => void) | undefined;
    const begin = (): void => {
      // In revisions without a handshake the entry point of the SDK passes on only what a client listens to.
      stop ??= this.listen((uri) => {
        if (era === 'modern' || subscribed.has(uri)) void server.sendResourceUpdated({ uri }).catch(() => undefined);
      });
    };
    const end = (): void => {
      stop?.();
      stop = undefined;
    };
    if (era === 'legacy') {
      server.setRequestHandler('resources/subscribe', ({ params }) => {
        const { uri } = params;
        if (uri.length > MAX_URI_LENGTH)
          throw new ProtocolError(
            ProtocolErrorCode.InvalidParams,
            `The URI has ${uri.length} characters: a subscription takes at most ${MAX_URI_LENGTH}.`,
          );
        if (subscribed.size >= MAX_SUBSCRIBED && !subscribed.has(uri))
          throw new ProtocolError(
            ProtocolErrorCode.InvalidParams,
            `A connection has at most ${MAX_SUBSCRIBED} subscriptions: unsubscribe from some.`,
          );
        subscribed.add(uri);
        begin();
        return {};
      });
      server.setRequestHandler('resources/unsubscribe', ({ params }) => {
        subscribed.delete(params.uri);
        if (subscribed.size === 0) end();
        return {};
      });
    } else if (this.#isListenedTo) begin();
    else this.#beginnings.add(begin);
    const { onclose } = server;
    server.onclose = () => {
      this.#beginnings.delete(begin);
      end();
      onclose?.();
    };
  }

  /**
   * To be called when a client listens on stdio: in revisions without a handshake only the SDK's entry point knows
   * that.
   */
  begin(): void {
    this.#isListenedTo = true;
    for (const begin of this.#beginnings) begin();
  }
}
