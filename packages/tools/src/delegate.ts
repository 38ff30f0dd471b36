import { quote } from '@scratchfs/core';
import type { DeriveOptions, Sandbox } from '@scratchfs/sandbox';
import { approvalOptions, askFor, NotApprovedError } from './approvals.js';
import { type Attachment, type AttachmentPolicy, readAttachments } from './attachments.js';
import { AUTHORIZER_OPTIONS, type AuthorizerOptions } from './authorizer.js';
import { ownOptions, texts } from './plain-data.js';
import type { ToolCallOptions } from './tool.js';
import { parseToolRules, ruleOf } from './tool-rules.js';
import { counted } from './tools/define.js';

export interface DelegateOptions extends AuthorizerOptions {
  /** Name of the worker to call. */
  readonly worker: string;
  /** Access that the worker's own configuration allows, as for `derive`. Default: none. */
  readonly access?: DeriveOptions | undefined;
  /** Files of the caller to hand over by value. The worker's sandbox need not include them. */
  readonly attachments?: readonly string[] | undefined;
  readonly attachmentPolicy?: AttachmentPolicy | undefined;
}

/** The sandbox and the attachments that the worker starts with. */
export interface Delegation {
  readonly sandbox: Sandbox;
  readonly attachments: readonly Attachment[];
}

/**
 * Prepares a call of one worker by another. The callee's sandbox is derived from the caller's, with the access that the
 * callee's own configuration allows. The attachments come from the caller's sandbox, within the policy. The rule
 * `worker.call` may forbid the call or require approval.
 *
 * @throws SandboxPermissionEscalationError if the callee's configuration asks for more than the caller has
 * @throws InputError, SandboxError, FsError for the attachments; NotApprovedError for them or for the call
 */
export async function delegate(
  caller: Sandbox,
  options: DelegateOptions,
  call: ToolCallOptions = {},
): Promise<Delegation> {
  const {
    worker,
    access,
    attachments = [],
    attachmentPolicy: policy,
    ...authorizer
  } = ownOptions(options, [...AUTHORIZER_OPTIONS, 'worker', 'access', 'attachments', 'attachmentPolicy'], 'delegate');
  const paths = texts(attachments, 'attachments');
  const rule = ruleOf(parseToolRules(authorizer.rules ?? {}), ['worker.call']);
  if (!rule.allowed) throw new NotApprovedError('The rules of this session allow no calls of other workers.');
  const sandbox = await caller.derive(access, call);
  if (rule.approvalRequired) {
    const summary = `Call the worker ${quote(worker)} with ${counted(paths.length, 'file')}`;
    await askFor({ tool: 'worker.call', effect: 'read', paths, summary }, approvalOptions(authorizer), call.signal);
  }
  const handed = await readAttachments(caller, paths, { ...authorizer, policy }, call);
  return Object.freeze({ sandbox, attachments: Object.freeze(handed) });
}
