import { Sandbox, SECRET_FILES } from '@scratchfs/sandbox';
import { createFileTools, type FileTools, type OnError, SharedReads } from '@scratchfs/tools';
import { type Attempt, type Workspace, WorkspaceError, type WorkspaceErrorCode } from '@scratchfs/workspace';
import { setNewest } from './newest.js';

/** Maximum number of attempts in the memory of a client. If one is forgotten, its conflicts must be told again. */
const MAX_ATTEMPTS = 8;

/** An attempt with the file tools on it. */
export interface OpenAttempt {
  readonly attempt: Attempt;
  readonly files: FileTools;
  /** The attempt's files as the tools show them. */
  readonly sandbox: Sandbox;
  /**
   * True if undo and redo in the attempt write to the disk, because it is live, but this server was not started with
   * `live`.
   */
  readonly asksForDisk: boolean;
}

/**
 * Attempts that a client has used, by name. Each remembers the conflicts that the client was told of, and the versions
 * of files that it has read.
 */
export type ClientMemory = Map<string, OpenAttempt>;

export interface SharedWorkspaceOptions {
  readonly isReadOnly: boolean;
  /** True if the workspace is opened with `live: true`, so that calls that name no attempt write to the disk. */
  readonly isLive: boolean;
  /**
   * Name of the attempt for calls that name none; created if it does not exist. Undefined for the workspace's default.
   */
  readonly name: string | undefined;
  /** Patterns of paths to hide besides secrets. */
  readonly deny: readonly string[];
  /** Patterns of secrets to show. */
  readonly allowSecrets: readonly string[];
  /** Names of the file tools that are offered: results name no others. */
  readonly fileTools: readonly string[];
  readonly onError: OnError;
}

/**
 * A workspace that all connections of a server share. It is opened by the first request that needs it, because clients
 * also start servers only to list their tools.
 */
export class SharedWorkspace {
  readonly #open: () => Promise<Workspace>;
  readonly #options: SharedWorkspaceOptions;
  readonly #memory: ClientMemory = new Map();
  readonly #reads = new SharedReads();
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

  /**
   * @param name undefined for the default attempt
   * @param memory that of the client. Default: one that all calls without it share
   * @throws WorkspaceError, such as `not-found`, `closed` or `refused`; and what opening the workspace throws
   */
  async attempt(name: string | undefined, memory = this.#memory): Promise<OpenAttempt> {
    const workspace = await this.open();
    const shared = await (name === undefined ? this.#default(workspace) : workspace.attempt(name));
    const known = memory.get(shared.name);
    const { isReadOnly, isLive, deny, allowSecrets, fileTools: only, onError } = this.#options;
    const make = (): OpenAttempt => {
      const attempt = shared.forClient();
      const sandbox = new Sandbox(attempt.fileSystem, {
        root: { root: '/', readonly: isReadOnly, writeApproval: false },
        deny: [...SECRET_FILES, ...allowSecrets.map((pattern) => `!${pattern}`), ...deny],
      });
      const sharedReads = { reads: this.#reads, files: shared.name };
      const asksForDisk = attempt.isLive === true && !isLive;
      return { attempt, sandbox, asksForDisk, files: createFileTools(sandbox, { only, onError, sharedReads }) };
    };
    const open = known ?? make();
    setNewest(memory, shared.name, open, MAX_ATTEMPTS);
    return open;
  }

  async #default(workspace: Workspace): Promise<Attempt> {
    const { name, isLive } = this.#options;
    if (name === undefined) return workspace.attempt();
    const found = await namedAttempt(workspace, name);
    if (isLive) checkLive(name, found);
    if (found !== undefined) return found;
    return workspace.createAttempt(name).catch((error: unknown) => {
      if (isWorkspaceError(error, 'exists')) return workspace.attempt(name);
      throw error;
    });
  }

  async close(): Promise<void> {
    await (await this.#workspace?.catch(() => undefined))?.close();
  }
}

/**
 * Checks that a live server can use an attempt, if it exists, for the calls that name none.
 * @throws WorkspaceError `refused` if it is not live, so that changes would not reach the disk
 */
export function checkLive(name: string, found: Attempt | undefined): void {
  if (found === undefined || found.isLive === true) return;
  throw new WorkspaceError(
    'refused',
    `The attempt ${name} keeps its changes apart, so a live server cannot use it: leave out the name of the attempt, ` +
      'which chooses the live one, or leave out live',
  );
}

/** Returns undefined if no attempt has the name. */
export async function namedAttempt(workspace: Workspace, name: string): Promise<Attempt | undefined> {
  try {
    return await workspace.attempt(name);
  } catch (error) {
    if (isWorkspaceError(error, 'not-found')) return undefined;
    throw error;
  }
}

export function isWorkspaceError(error: unknown, code: WorkspaceErrorCode): boolean {
  return error instanceof WorkspaceError && error.code === code;
}
