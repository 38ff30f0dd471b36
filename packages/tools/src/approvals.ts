import { quote } from '@scratchfs/core';

/** What somebody is asked to agree to. */
export interface ApprovalRequest {
  /** The tool, or `attachments`. */
  readonly tool: string;
  /** Whether files are read only, or changed. */
  readonly effect: 'read' | 'write';
  /** The paths that are touched, as the sandbox writes them; where a link leads, that place too. */
  readonly paths: readonly string[];
  /** One sentence for a person: values in it are escaped and cut. */
  readonly summary: string;
  /** What would be written, where that is known: as it is, not escaped, perhaps long. */
  readonly detail?: string;
}

/** Asks a person, or whoever decides. Only `true` is a yes. The signal aborts when nobody waits for the answer any more. */
export type Approve = (request: ApprovalRequest, call: { readonly signal: AbortSignal }) => boolean | Promise<boolean>;

export interface ApprovalOptions {
  /** Default: nobody is there to ask, and whatever needs approval is refused. */
  readonly approve?: Approve | undefined;
  /** How long an answer is waited for. Default 300,000. */
  readonly approvalTimeoutMs?: number | undefined;
}

/**
 * The options that are about approval, checked, whatever a prototype holds.
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

/** Why something was not done, in words for the model. */
export class NotApprovedError extends Error {
  override readonly name = 'NotApprovedError';
}

const ADVICE = 'Do not try it again unchanged; go on without it, or ask the user what to do instead.';

/**
 * Waits for a yes.
 * @throws NotApprovedError for everything else: no hook, another answer, an error, no answer in time
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
    void answerOf(approve, request, waiting.signal).then(resolve);
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

async function answerOf(approve: Approve, request: ApprovalRequest, signal: AbortSignal): Promise<Outcome> {
  try {
    const answer: unknown = await approve(request, { signal });
    return answer === true ? 'yes' : 'no';
  } catch {
    return 'failed';
  }
}

function notApproved({ tool, paths }: ApprovalRequest, reason: string): NotApprovedError {
  const about = paths.length === 0 ? tool : `${tool} of ${paths.map(quote).join(' and ')}`;
  return new NotApprovedError(`Not done: ${about}: ${reason}. ${ADVICE}`);
}
