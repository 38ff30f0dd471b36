import {
  type Approval,
  type Attempt,
  type EntryState,
  type Operation,
  type OperationChange,
  type PathDiff,
  type Workspace,
  WorkspaceError,
  type WorkspaceEvent,
} from '@scratchfs/workspace';
import { createFileSystem, type FileSystem, type InitialFiles } from 'scratchfs';

type Files = ReadonlyMap<string, string>;

/** A small workspace in memory with the methods that the server's unit tests need. `disk` is what accept writes to. */
export class MemoryWorkspace {
  readonly directory = '/home/me/project';
  readonly isRepository = false;
  readonly disk: Map<string, string>;
  readonly #attempts = new Map<string, Attempt>();
  readonly #approvals: Approval[] = [];
  readonly #events = new EventTarget();
  /** Names of attempts that are listed as discarded. */
  readonly discarded = new Set<string>();
  openings = 0;

  constructor(files: Readonly<Record<string, string>>) {
    this.disk = new Map(Object.entries(files));
  }

  readonly open = async (): Promise<Workspace> => {
    this.openings++;
    return this as unknown as Workspace;
  };

  async attempt(name = 'calm-otter'): Promise<Attempt> {
    const known = this.#attempts.get(name);
    if (known !== undefined) return known;
    if (name !== 'calm-otter') throw new WorkspaceError('not-found', `There is no attempt ${name}.`);
    return this.make(name, Object.fromEntries(this.disk));
  }

  async *events({ signal }: { signal: AbortSignal }): AsyncGenerator<WorkspaceEvent> {
    const waiting: Operation[] = [];
    const listen = (event: Event): void => void waiting.push((event as CustomEvent<Operation>).detail);
    this.#events.addEventListener('operation', listen, { signal });
    while (!signal.aborted) {
      for (const operation of waiting.splice(0)) yield { type: 'operation', operation };
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  tell(operation: Operation): void {
    this.#events.dispatchEvent(new CustomEvent('operation', { detail: operation }));
  }

  async attempts(): Promise<unknown[]> {
    const infos = [...this.#attempts.values()].map(async ({ name, head }) => ({
      name,
      state: this.discarded.has(name) ? 'discarded' : 'open',
      head: await head(),
      changedPaths: 0,
      current: name === 'calm-otter',
    }));
    return Promise.all(infos);
  }

  make(name: string, files: InitialFiles): Attempt {
    const made = attemptOn(name, createFileSystem({ files }), this);
    this.#attempts.set(name, made);
    return made;
  }

  readonly approvals = {
    request: async (what: Partial<Approval>): Promise<Approval> => {
      const made = { ...what, id: this.#approvals.length + 1, state: 'pending' } as Approval;
      this.#approvals.push(made);
      return made;
    },
    list: async ({ state }: { state?: Approval['state'] } = {}): Promise<readonly Approval[]> =>
      this.#approvals.filter((one) => state === undefined || one.state === state),
    deny: async (id: number): Promise<void> => this.#set(id, 'denied'),
    approve: async (id: number): Promise<void> => this.#set(id, 'approved'),
    use: async (id: number): Promise<boolean> => {
      const isApproved = this.#approvals[id - 1]?.state === 'approved';
      this.#set(id, 'expired');
      return isApproved;
    },
  };

  #set(id: number, state: Approval['state']): void {
    this.#approvals[id - 1] = { ...(this.#approvals[id - 1] as Approval), state };
  }

  async close(): Promise<void> {}
}

async function filesOf(fs: FileSystem): Promise<Files> {
  const found = new Map<string, string>();
  for (const entry of await fs.readdir('/', { recursive: true, withFileTypes: true })) {
    const path = `${entry.parentPath === '/' ? '' : entry.parentPath}/${entry.name}`;
    if (entry.isFile()) found.set(path, await fs.readFile(path, 'utf8'));
  }
  return found;
}

const stateOf = (text: string | undefined): EntryState | null =>
  text === undefined ? null : { kind: 'file', mode: 0o644, size: text.length };

function changesBetween(before: Files, after: Files): OperationChange[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths
    .filter((path) => before.get(path) !== after.get(path))
    .map((path) => ({ path, before: stateOf(before.get(path)), after: stateOf(after.get(path)) }));
}

function attemptOn(name: string, fileSystem: FileSystem, workspace: MemoryWorkspace): Attempt {
  const states: Files[] = [];
  const operations: Operation[] = [];
  const head = async (): Promise<number> => operations.length;

  const write = async (files: Files): Promise<void> => {
    for (const path of (await filesOf(fileSystem)).keys()) if (!files.has(path)) await fileSystem.rm(path);
    for (const [path, text] of files) await fileSystem.writeFile(path, text);
  };
  const record = async (before: Files, tool: string, actor = 'user'): Promise<Operation | undefined> => {
    const after = await filesOf(fileSystem);
    const changes = changesBetween(before, after);
    if (changes.length === 0 && tool !== 'accept') return undefined;
    if (states.length === 0) states.push(before);
    states.push(after);
    const id = operations.length + 1;
    const made = { id, attempt: name, at: 0, actor, tool, summary: tool, ok: true, ms: 0, changes };
    operations.push(made);
    workspace.tell(made);
    return made;
  };

  const attempt = {
    name,
    fileSystem,
    head,
    refresh: async () => ({ merged: [], conflicts: [] }),
    markTold: () => undefined,
    labelled: async (label: { actor?: string; tool?: string }, work: () => Promise<unknown>) => {
      const before = await filesOf(fileSystem);
      const value = await work();
      const made = await record(before, label.tool ?? 'edit', label.actor);
      return { value, operations: made === undefined ? [] : [made], refreshed: { merged: [], conflicts: [] } };
    },
    undo: async ({ expect, actor }: { expect?: number; actor?: string } = {}) => {
      const last = operations.findLast(({ tool }) => tool !== 'undo');
      if (last === undefined) throw new WorkspaceError('nothing-to-undo', 'There is nothing to undo.');
      if (expect !== undefined && expect !== last.id)
        throw new WorkspaceError('moved', `The last operation is ${operations.length}, not ${expect}.`);
      const before = await filesOf(fileSystem);
      await write(states[last.id - 1] as Files);
      const operation = (await record(before, 'undo', actor)) as Operation;
      return { ...operation, target: last.id, refreshed: { merged: [], conflicts: [] } };
    },
    log: async () => ({ operations: operations.toReversed(), next: undefined }),
    diff: async () => {
      const after = await filesOf(fileSystem);
      const paths = changesBetween(workspace.disk, after).map((change): PathDiff => {
        const text = after.get(change.path) ?? '';
        const lines = text.split('\n').map((line) => `+${line}`);
        const hunk = { id: 'h', oldStart: 0, oldLines: 0, newStart: 1, newLines: lines.length, lines };
        const { path, before, after: now } = change;
        return {
          path,
          before: before as EntryState,
          after: now as EntryState,
          type: before === null ? 'added' : 'changed',
          binary: false,
          additions: lines.length,
          deletions: 0,
          hunks: [hunk],
        };
      });
      return { paths, head: operations.length };
    },
    hides: () => false,
    next: async (tool: 'undo' | 'redo') =>
      tool === 'undo' ? operations.findLast((one) => one.tool !== 'undo') : undefined,
    accept: async ({ expect, actor, dryRun }: { expect?: number; actor?: string; dryRun?: boolean }) => {
      if (expect !== undefined && expect !== operations.length) throw new WorkspaceError('moved', 'It has moved.');
      const files = await filesOf(fileSystem);
      const changes = changesBetween(workspace.disk, files);
      const accepted = changes.map(({ path }) => path);
      if (accepted.length === 0 || dryRun === true)
        return {
          success: true,
          message: accepted.length === 0 ? 'No changes.' : 'Dry.',
          accepted,
          changes,
          conflicts: [],
          autoRun: [],
        };
      workspace.disk.clear();
      for (const [path, text] of files) workspace.disk.set(path, text);
      const operation = await record(files, 'accept', actor);
      return { success: true, message: 'Accepted.', accepted, changes, conflicts: [], autoRun: [], operation };
    },
    forClient: () => attempt as unknown as Attempt,
    fork: async (given = 'bold-finch') => workspace.make(given, Object.fromEntries(await filesOf(fileSystem))),
  };
  return attempt as unknown as Attempt;
}
