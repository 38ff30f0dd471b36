import { Sandbox, SECRET_FILES } from '@scratchfs/sandbox';
import { createFileTools, type FileTools, type OnError } from '@scratchfs/tools';
import { type Attempt, type Workspace, WorkspaceError, type WorkspaceErrorCode } from '@scratchfs/workspace';

/** Maximum number of attempts whose tools are kept, with the versions of the files that their model has read. */
const MAX_ATTEMPTS = 32;

/** An attempt with the file tools on it. */
export interface OpenAttempt {
  readonly attempt: Attempt;
  readonly files: FileTools;
  /** The attempt's files as the tools show them. */
  readonly sandbox: Sandbox;
}

export interface SharedWorkspaceOptions {
  readonly isReadOnly: boolean;
  /** Name of the attempt of calls that name none, made if there is none. Undefined: the current one. */
  readonly name: string | undefined;
  /** Patterns of paths to hide besides secrets, and of secrets to show. */
  readonly deny: readonly string[];
  readonly allowSecrets: readonly string[];
  readonly onError: OnError;
}

/**
 * The workspace of one process, shared by all connections. It is opened by the first call that needs it: clients start
 * servers only to ask what they offer.
 */
export class SharedWorkspace {
  readonly #open: () => Promise<Workspace>;
  readonly #options: SharedWorkspaceOptions;
  readonly #attempts = new Map<string, OpenAttempt>();
  #workspace: Promise<Workspace> | undefined;

  constructor(open: () => Promise<Workspace>, options: SharedWorkspaceOptions) {
    this.#open = open;
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#workspace !== undefined;
  }

  async open(): Promise<Workspace> {
    this.#workspace ??= this.#open().catch((error: unknown) => {
      this.#workspace = undefined;
      throw error;
    });
    return this.#workspace;
  }

  /** @throws WorkspaceError `not-found` */
  async attempt(name: string | undefined): Promise<OpenAttempt> {
    const workspace = await this.open();
    const attempt = await (name === undefined ? this.#default(workspace) : workspace.attempt(name));
    const known = this.#attempts.get(attempt.name);
    const { isReadOnly, deny, allowSecrets, onError } = this.#options;
    const make = (): OpenAttempt => {
      const sandbox = new Sandbox(attempt.fileSystem, {
        root: { root: '/', readonly: isReadOnly, writeApproval: false },
        deny: [...SECRET_FILES, ...allowSecrets.map((pattern) => `!${pattern}`), ...deny],
      });
      return { attempt, sandbox, files: createFileTools(sandbox, { onError }) };
    };
    const open = known ?? make();
    this.#attempts.delete(attempt.name);
    this.#attempts.set(attempt.name, open);
    const [oldest] = this.#attempts.keys();
    if (this.#attempts.size > MAX_ATTEMPTS && oldest !== undefined) this.#attempts.delete(oldest);
    return open;
  }

  async #default(workspace: Workspace): Promise<Attempt> {
    const { name } = this.#options;
    if (name === undefined) return workspace.attempt();
    try {
      return await workspace.attempt(name);
    } catch (error) {
      if (!isWorkspaceError(error, 'not-found')) throw error;
    }
    return workspace.createAttempt(name).catch((error: unknown) => {
      if (isWorkspaceError(error, 'exists')) return workspace.attempt(name);
      throw error;
    });
  }

  async close(): Promise<void> {
    await (await this.#workspace?.catch(() => undefined))?.close();
  }
}

export function isWorkspaceError(error: unknown, code: WorkspaceErrorCode): boolean {
  return error instanceof WorkspaceError && error.code === code;
}
