import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  type CallToolResult,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Attempt, Workspace } from '@scratchfs/workspace';
import { printable } from '../tools/format.js';
import type { Plan } from '../tools/server-tool.js';
import type { Client } from './client.js';
import type { ServerSettings } from './options.js';
import { errorResult } from './results.js';
import { isWorkspaceError } from './shared-workspace.js';

/** A call that needs a person's yes. */
export interface GatedCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly attempt: Attempt;
  readonly workspace: Workspace;
  readonly client: Client;
  readonly context: ServerContext;
  /** Plan of the call, for tools that make one. */
  readonly plan: Plan | undefined;
}

/** The result to return instead of running the call. Undefined if it is approved. */
export type Decision = CallToolResult | InputRequiredResult | undefined;

/** Content of the sealed `requestState`: the call that a form was shown for. */
interface Question {
  /** HMAC over the tool, its input, the attempt and its head. */
  readonly call: string;
  /** Random, so that each form counts once. */
  readonly id: string;
}

const KEY = 'approval';
/** Time in seconds within which the reply to a form counts. */
const FORM_SECONDS = 600;
/** Maximum number of approvals of an attempt that wait at the same time. */
const MAX_PENDING = 20;
/** Maximum length of the input that a form shows, in UTF-16 units. */
const MAX_SHOWN_LENGTH = 4_000;

/**
 * Asks a person before a call runs: by a form, or for clients that show none by a numbered approval of the workspace,
 * which the person settles in a terminal. A yes counts once, for the same tool, input, attempt and head.
 */
export class ApprovalGate {
  readonly #settings: ServerSettings;
  readonly #key = randomBytes(32);
  /**
   * Ids of the forms that were replied to, with the time in epoch milliseconds after which they are forgotten: no reply
   * counts then.
   */
  readonly #settled = new Map<string, number>();
  readonly codec: RequestStateCodec<Question> = createRequestStateCodec<Question>({
    key: this.#key,
    ttlSeconds: FORM_SECONDS,
    bind: (context) => `${context.mcpReq.method}\0${context.http?.authInfo?.clientId ?? ''}`,
  });

  constructor(settings: ServerSettings) {
    this.#settings = settings;
  }

  async decide(call: GatedCall): Promise<Decision> {
    const { attempt, client, context, plan } = call;
    const head = plan?.head ?? (await attempt.head({ signal: context.mcpReq.signal }));
    const seal = this.#seal(call, head);
    const question = context.mcpReq.requestState<Question>();
    if (question !== undefined) return this.#settle(question, seal, context);
    return client.hasForms ? this.#ask(call, seal) : this.#askInTerminal(call, head);
  }

  #settle(question: Question, seal: string, { mcpReq }: ServerContext): Decision {
    if (this.#settled.has(question.id)) return refused('This approval was used already. Call the tool again.');
    this.#forgetOld();
    this.#settled.set(question.id, Date.now() + FORM_SECONDS * 1000);
    if (!isSame(question.call, seal))
      return refused(
        'The approval was for another call, or the attempt has changed since. Nothing was done: call the tool again.',
      );
    const response = inputResponse(mcpReq.inputResponses, KEY);
    const isYes = response.kind === 'elicit' && response.action === 'accept' && response.content?.approve === true;
    return isYes
      ? undefined
      : refused('The user has not approved this. Nothing was done: do not try it again unchanged.');
  }

  async #ask(call: GatedCall, seal: string): Promise<Decision> {
    const state = await this.codec.mint({ call: seal, id: randomBytes(12).toString('base64url') }, call.context);
    const form = inputRequired.elicit({
      message: shownOf(call),
      requestedSchema: {
        type: 'object',
        properties: { approve: { type: 'boolean', title: 'Approve', default: false } },
        required: ['approve'],
      },
    });
    return inputRequired({ inputRequests: { [KEY]: form }, requestState: state });
  }

  async #askInTerminal(call: GatedCall, head: number): Promise<Decision> {
    const { tool, input, attempt, workspace, context, plan } = call;
    const { signal } = context.mcpReq;
    const what = { attempt: attempt.name, head, action: tool, details: plain(input) };
    const wanted = canonical(what);
    const known = (await workspace.approvals.list({ signal })).filter(
      ({ attempt: name, head: seen, action, details }) =>
        canonical({ attempt: name, head: seen, action, details }) === wanted,
    );
    const approved = known.find(({ state }) => state === 'approved');
    if (approved !== undefined && (await workspace.approvals.use(approved.id, what, { signal }))) return undefined;
    const waiting = known.find(({ state }) => state === 'pending');
    if (waiting === undefined && !(await this.#hasRoom(call, head)))
      return refused(
        `${MAX_PENDING} approvals of the attempt wait already. Ask the user to settle them, and ask for nothing else before.`,
      );
    const pending =
      waiting ??
      (await workspace.approvals.request(
        { ...what, summary: `${summaryOf(tool, input)}\n${plan?.shown ?? ''}`.trimEnd() },
        { signal },
      ));
    return refused(
      `Needs approval ${pending.id}. Ask the user to run \`${this.#settings.approvalCommand(pending.id)}\` in a terminal; then call ${tool} again with the same input.`,
    );
  }

  /**
   * Reports whether an attempt may have another pending approval. At the maximum, it first denies those for earlier
   * heads.
   */
  async #hasRoom({ attempt, workspace, context }: GatedCall, head: number): Promise<boolean> {
    const { signal } = context.mcpReq;
    const all = await workspace.approvals.list({ state: 'pending', signal });
    const ofAttempt = all.filter((one) => one.attempt === attempt.name);
    if (ofAttempt.length < MAX_PENDING) return true;
    const old = ofAttempt.filter((one) => one.head < head);
    for (const { id } of old)
      await workspace.approvals.deny(id, { signal }).catch((error: unknown) => {
        if (!isWorkspaceError(error, 'settled')) throw error;
      });
    return ofAttempt.length - old.length < MAX_PENDING;
  }

  #seal({ tool, input, attempt }: GatedCall, head: number): string {
    const text = canonical({ tool, input, attempt: attempt.name, head });
    return createHmac('sha256', this.#key).update(text).digest('base64url');
  }

  #forgetOld(): void {
    for (const [id, until] of this.#settled) if (until < Date.now()) this.#settled.delete(id);
  }
}

function refused(text: string): CallToolResult {
  return errorResult(text);
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function shownOf({ tool, input, attempt, plan }: GatedCall): string {
  const summary = printable(`${summaryOf(tool, input)}\nAttempt: ${attempt.name}`);
  if (plan?.isOutside === true) return printable([summary, plan.shown, '', plan.diff ?? ''].join('\n').trimEnd());
  const text = printable(JSON.stringify(input, undefined, 2));
  const isCut = text.length > MAX_SHOWN_LENGTH;
  return `${summary}\n${text.slice(0, MAX_SHOWN_LENGTH).toWellFormed()}${isCut ? '\n[The input is longer.]' : ''}`;
}

function summaryOf(tool: string, input: Readonly<Record<string, unknown>>): string {
  if (tool !== 'accept') return `Run the tool ${tool}?`;
  const as = typeof input.as === 'string' ? input.as : 'apply';
  return as === 'apply' ? 'Write these changes to your disk?' : `Accept these changes (${as})?`;
}

/** Returns JSON data without undefined values, as an approval's details are stored. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Returns JSON with sorted keys, so that equal data give equal text. */
function canonical(value: unknown): string {
  const sorted = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(sorted);
    if (typeof each !== 'object' || each === null) return each;
    const entries = Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
  };
  return JSON.stringify(sorted(value));
}
