import { isWithin } from '@scratchfs/core';
import type { FileSandbox, FileSystemSandbox } from '@scratchfs/sandbox';
import { type ApprovalOptions, type ApprovalRequest, approvalOptions, askFor, NotApprovedError } from './approvals.js';
import { checkPath } from './input.js';
import { type ReadsOfFiles, ReadVersions } from './read-versions.js';
import type { RuleName, ToolCallOptions } from './tool.js';
import { LEGACY_NAMES } from './tool-names.js';
import { parseToolRules, ruleOf, type ToolRules } from './tool-rules.js';
import { approvalsOf, checkAccess, hasFileSystem, shownPath } from './tool-sandbox.js';

export interface AuthorizerOptions extends ApprovalOptions {
  /** `tool_rules`, as configuration or parsed. Default: everything is allowed. */
  readonly rules?: ToolRules | undefined;
}

export const AUTHORIZER_OPTIONS = ['approve', 'approvalTimeoutMs', 'rules'] as const;

/** One path that an action touches. */
export interface PathUse {
  readonly path: string;
  readonly access: 'read' | 'write';
  /** False if the action concerns a link itself, as in a removal. Default true. */
  readonly follow?: boolean;
  /** True if the action concerns everything in the directory too. */
  readonly isTree?: boolean;
}

/** An action of a tool that rules and approvals decide on. */
export interface ToolAction {
  readonly tool: string;
  readonly rule: RuleName;
  readonly uses: readonly PathUse[];
  readonly summary: string;
  readonly detail?: string;
}

/** Authorizes the actions of tools: first by the rules, then by the sandbox, then by approval. */
export class Authorizer {
  readonly #options: ApprovalOptions;
  readonly #rules: ToolRules;
  /** The versions of the files that the model has read. */
  readonly versions: ReadVersions;

  constructor(
    /** The sandbox as given. It may have no filesystem. */
    readonly plain: FileSandbox,
    options: AuthorizerOptions,
    /** Names of the tools that the model has. Advice names no others. */
    readonly offered: ReadonlySet<string> = new Set(),
    sharedReads?: ReadsOfFiles,
  ) {
    this.versions = new ReadVersions(plain, offered, sharedReads);
    this.#options = approvalOptions(options);
    this.#rules = parseToolRules(Object.hasOwn(options, 'rules') ? (options.rules ?? {}) : {});
  }

  /** The sandbox, for tools that work with its filesystem. @throws TypeError if it has none */
  get sandbox(): FileSystemSandbox {
    if (hasFileSystem(this.plain)) return this.plain;
    throw new TypeError('This tool needs a sandbox with a fileSystem, as Sandbox of @scratchfs/sandbox has');
  }

  /** Reports whether the rules allow the model to use a tool at all. */
  isAllowed({ name, rule }: { readonly name: string; readonly rule: RuleName }): boolean {
    return ruleOf(this.#rules, namesOf(name, rule)).allowed;
  }

  /**
   * Resolves if an action may run, after waiting for approval if it needs one. Approval is not requested if the sandbox
   * refuses a path, except one that stands for a whole tree.
   * @throws InputError, NotApprovedError, SandboxError, FsError, the signal's reason
   */
  async permit(action: ToolAction, { signal }: ToolCallOptions): Promise<void> {
    const { tool, rule, uses, summary, detail } = action;
    const { allowed, approvalRequired } = ruleOf(this.#rules, namesOf(tool, rule));
    if (!allowed) throw new NotApprovedError(`The tool ${tool} is switched off by the rules of this session.`);
    for (const { path } of uses) checkPath(path);
    for (const use of uses)
      if (use.isTree !== true) await checkAccess(this.plain, use.path, use.access, { ...use, signal });
    const isAsked = approvalRequired || (await this.#needsApproval(uses, signal));
    if (!isAsked) return;
    const before = await this.#places(uses, signal);
    const shown = before.map((place) => shownPath(this.plain, place));
    const paths = [...new Set([...uses.map(({ path }) => path), ...shown.filter((path) => path !== undefined)])];
    const request: ApprovalRequest = {
      tool,
      effect: rule === 'sandbox.read' ? 'read' : 'write',
      paths,
      summary,
      ...(detail === undefined ? {} : { detail }),
    };
    await askFor(request, this.#options, signal);
    const after = await this.#places(uses, signal);
    if (before.some((place, i) => place !== after[i])) {
      throw new NotApprovedError(
        `Not done: ${tool}: while it was approved, the path began to lead elsewhere. Try again.`,
      );
    }
  }

  async #needsApproval(uses: readonly PathUse[], signal: AbortSignal | undefined): Promise<boolean> {
    for (const use of uses) {
      for (const path of use.isTree === true ? this.#roots(use) : [use.path]) {
        if ((await approvalsOf(this.plain, path, { signal }))[use.access]) return true;
      }
    }
    return false;
  }

  /** Returns a directory and the sandbox roots inside it; for the root of a sandbox with named roots, all of them. */
  #roots({ path, access }: PathUse): string[] {
    const roots = access === 'read' ? this.plain.readableRoots : this.plain.writableRoots;
    const top = topOf(this.sandbox, path);
    if (top === undefined) return [...roots];
    return [path, ...roots.filter((root) => isWithin(this.sandbox.locate(root), top))];
  }

  /** Returns the resolved paths of the uses that are not whole trees. */
  async #places(uses: readonly PathUse[], signal: AbortSignal | undefined): Promise<string[]> {
    const places: string[] = [];
    for (const { path, isTree, follow } of uses) {
      if (isTree === true) continue;
      places.push(await this.plain.resolve(path, { follow, signal }));
    }
    return places;
  }
}

/** Returns all names under which a rule may address a tool. */
function namesOf(tool: string, rule: RuleName): string[] {
  return [rule, tool, LEGACY_NAMES[tool] ?? tool];
}

/** Returns a directory's path in the filesystem; undefined if it has none, as the top of a sandbox with named roots. */
function topOf(sandbox: FileSystemSandbox, path: string): string | undefined {
  try {
    return sandbox.locate(path);
  } catch {
    return undefined;
  }
}
