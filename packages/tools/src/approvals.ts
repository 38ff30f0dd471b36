import { quote } from '@scratchfs/core';

/** An action that needs approval. */
export interface ApprovalRequest {
  /** Name of the tool, `attachments` or `worker.call`. */
  readonly tool: string;
  /** `write` if the action may change files, otherwise `read`. */
  readonly effect: 'read' | 'write';
  /** Paths of the action, as given, and, if known, the paths that they lead to, as the sandbox displays them. */
  readonly paths: readonly string[];
  /** One sentence for a person. Values in it are escaped and shortened. */
  readonly summary: string;
  /** Text that would be written, if known. Not escaped, possibly long. */
  readonly detail?: string;
}

/**
 * Decides on an action, usually by asking a person. Only `true` approves. The signal aborts once the decision no longer
 * matters.
 */
export type Approve = (request: ApprovalRequest, call: { readonly signal: AbortSignal }) => boolean | Promise<boolean>;

export interface ApprovalOptions {
  /** Default: every action that needs approval is refused. */
  readonly approve?: Approve | undefined;
  /** Milliseconds to wait for a decision. Default 300,000. */
  readonly approvalTimeoutMs?: number | undefined;
}

/**
 * Picks and checks the approval options. Inherited properties are ignored.
 * @throws TypeError, RangeError
 */
export function approvalOptions(options: ApprovalOptions): ApprovalOptions {
  const own = Object.assign(Object.create(null), options) as ApprovalOptions;
  const { approve, approvalTimeoutMs } = own;
  if (approve !== undefined && typeof approve !== 'function') throw new TypeError('approve must be a function');
  if (approvalTimeoutMs !== undefined) {
    if (typeof approvalTimeoutMs !== 'number') throw new TypeError('approvalTimeoutMs must be a number');
    const isTime = approvalTimeoutMs > 0 && approvalTimeoutMs < 2 ** 31;
    if (!isTime)
      throw new RangeError(`approvalTimeoutMs must be more than 0 and less than 2 ** 31, not ${approvalTimeoutMs}`);
  }
  return { approve, approvalTimeoutMs };
}

/**
 * Thrown if a rule forbids an action, if it was not approved, or if a path led elsewhere after the approval than before.
 * Its message is for the model.
 */
export class NotApprovedError extends Error {
  override readonly name = 'NotApprovedError';
}

const ADVICE = 'Do not try it again unchanged; go on without it, or ask the user what to do instead.';

/**
 * Waits for approval.
 * @throws NotApprovedError without `approve`, or if it returns something other than `true`, fails or takes too long
 * @throws the signal's reason
 */
export async function askFor(request: ApprovalRequest, options: ApprovalOptions, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const { approve, approvalTimeoutMs = 300_000 } = options;
  if (approve === undefined) throw notApproved(request, 'it needs approval, and nobody is there to give it');
  const waiting = new AbortController();
  const outcome = await new Promise<Outcome>((resolve) => {
    const timeout = setTimeout(() => resolve('timeout'), approvalTimeoutMs);
    const abort = (): void => resolve('aborted');
    signal?.addEventListener('abort', abort, { once: true });
    waiting.signal.addEventListener('abort', () => {
      clearTimeout(timeout);
      signal?.removeEventListener('abort', abort);
    });
    void decisionOf(approve, request, waiting.signal).then(resolve);
  });
  waiting.abort();
  signal?.throwIfAborted();
  if (outcome !== 'yes') throw notApproved(request, REASONS[outcome]);
}

type Outcome = 'yes' | 'no' | 'failed' | 'timeout' | 'aborted';

const REASONS = {
  no: 'the user has not approved it',
  failed: 'asking for approval failed',
  timeout: 'nobody has approved it in time',
  aborted: 'the call has ended',
} as const satisfies Record<Exclude<Outcome, 'yes'>, string>;

async function decisionOf(approve: Approve, request: ApprovalRequest, signal: AbortSignal): Promise<Outcome> {
  try {
    const decision: unknown = await approve(request, { signal });
    return decision === true ? 'yes' : 'no';
  } catch {
    return 'failed';
  }
}

function notApproved({ tool, paths }: ApprovalRequest, reason: string): NotApprovedError {
  const about = paths.length === 0 ? tool : `${tool} of ${paths.map(quote).join(' and ')}`;
  return new NotApprovedError(`Not done: ${about}: ${reason}. ${ADVICE}`);
}
