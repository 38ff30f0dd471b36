import { PassThrough } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { McpServerFactory, RequestId } from '@modelcontextprotocol/server';
import { type ServeStdioOptions, StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';

export interface StdioOptions extends Pick<ServeStdioOptions, 'onerror'> {
  /**
   * Called when stdin has ended and its requests are replied to. Requests still open after 30 seconds are not waited
   * for.
   */
  readonly onend?: (() => void) | undefined;
}

/** Serves one client over stdin and stdout. @param onListen called for a request to listen to changes of resources */
export function serveOnStdio(
  factory: McpServerFactory,
  { onend, ...options }: StdioOptions,
  onListen?: () => void,
): void {
  const input = new PassThrough();
  process.stdin.pipe(input, { end: false });
  const transport = new StdioServerTransport(input);
  const open = openRequests(transport);
  process.stdin.once('end', () => {
    void untilDone(() => input.readableLength === 0 && open.size === 0).then(() => {
      // When this callback runs, everything that was written before has left the process.
      process.stdout.write('', () => {
        input.end();
        onend?.();
      });
    });
  });
  serveStdio(factory, { ...options, transport });
  const receive = transport.onmessage;
  transport.onmessage = (message) => {
    if ('method' in message && message.method === 'subscriptions/listen') onListen?.();
    else if ('method' in message && 'id' in message) open.add(message.id);
    if ('method' in message && message.method === 'notifications/cancelled')
      open.delete((message.params as { readonly requestId: RequestId }).requestId);
    receive?.(message);
  };
}

/** Maximum time in milliseconds for requests to end after the input has. */
const MAX_END_MS = 30_000;

/** Returns a set from which ids of requests are removed when a transport replies to them. The caller adds them. */
function openRequests(transport: StdioServerTransport): Set<RequestId> {
  const open = new Set<RequestId>();
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    await send(message);
    if (!('method' in message) && message.id !== undefined) open.delete(message.id);
  };
  return open;
}

/** Waits until a condition holds twice in a row, because a message may be on its way, for at most `MAX_END_MS`. */
async function untilDone(isDone: () => boolean): Promise<void> {
  const until = Date.now() + MAX_END_MS;
  for (let times = 0; times < 2 && Date.now() < until; times = isDone() ? times + 1 : 0) await setTimeout(10);
}
