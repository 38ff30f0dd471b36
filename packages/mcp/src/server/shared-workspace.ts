import { Sandbox } from '@scratchfs/sandbox';
import { createFileTools, type FileTools, type OnError } from '@scratchfs/tools';
import type { Attempt, Workspace } from '@scratchfs/workspace';

/** Maximum number of attempts whose tools are kept, with the versions of the files that their model has read. */
const MAX_ATTEMPTS = 32;

/** An attempt with the file tools on it. */
export interface OpenAttempt {
  readonly attempt: Attempt;
  readonly files: FileTools;
}

export interface SharedWorkspaceOptions {
  readonly isReadOnly: boolean;
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
    const attempt = await workspace.attempt(name);
    const known = this.#attempts.get(attempt.name);
    const { isReadOnly, onError } = this.#options;
    const sandbox = (): Sandbox =>
      new Sandbox(attempt.fileSystem, { root: { root: '/', readonly: isReadOnly, writeApproval: false } });
    const open = known ?? { attempt, files: createFileTools(sandbox(), { onError }) };
    this.#attempts.delete(attempt.name);
    this.#attempts.set(attempt.name, open);
    const [oldest] = this.#attempts.keys();
    if (this.#attempts.size > MAX_ATTEMPTS && oldest !== undefined) this.#attempts.delete(oldest);
    return open;
  }

  async close(): Promise<void> {
    await (await this.#workspace?.catch(() => undefined))?.close();
  }
}
