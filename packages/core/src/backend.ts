import type { EntryKind } from './entry.js';
import type { Limits } from './limits.js';

/**
 * Identity of a node, which survives renames. Opaque. The client chooses it for each node that it creates; the backend
 * chooses all others, such as those of the root and of nodes under a copied directory.
 */
export type NodeId = string | number;

/**
 * A version that changes whenever its subject changes. Opaque except for equality: if a version of one id is the same in
 * two records, so is its subject, in whichever states they were read (the current one or a checkpoint). An old version
 * returns only together with the old state, by a restore.
 */
export type Version = number | string;

/** Marks a version that is not known. A backend may use it only as the `tree` of a directory that is not `counted`. */
export const UNKNOWN_VERSION: Version = '?';

/** Metadata of a node, which a backend stores and need not interpret. Times are epoch milliseconds. */
export interface Metadata {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly atime: number;
  readonly mtime: number;
  readonly ctime: number;
  readonly birthtime: number;
}

/** A backend's record of a node. */
export interface NodeRecord {
  readonly id: NodeId;
  readonly kind: EntryKind;
  readonly meta: Metadata;
  /** Changes when content, metadata or number of names change; for a directory, only when its metadata changes. */
  readonly version: Version;
  /** Bytes of the content or of the target; 0 for a directory. */
  readonly size: number;
  /** Number of names of the node; 1 for a directory. */
  readonly links: number;
  /** Target of a symlink. */
  readonly target?: string;
  /** True for a symlink that leads out of the backend's tree: it can be read, and following it is EACCES. */
  readonly outside?: boolean;
  /** Defined for a directory. */
  readonly directory?: DirectoryRecord;
}

export interface DirectoryRecord {
  /** Changes when a name is added, removed or leads to another node. Never `UNKNOWN_VERSION`. */
  readonly listing: Version;
  /** Changes whenever something at or under the directory changes. */
  readonly tree: Version;
  /** Number of names directly in it. */
  readonly count: number;
  /**
   * Totals of everything under it, itself not counted. For the root, of the whole filesystem, in which each file with
   * several names counts once in `size`.
   */
  readonly totals: Totals;
  /**
   * False if the backend does not count and does not track changes under the directory: `totals` and `tree` are then
   * meaningless, and operations that need them visit everything under the directory. Default true.
   */
  readonly counted?: boolean;
}

export interface Totals {
  /** Bytes. A file with several names counts in no directory, only in the whole filesystem. */
  readonly size: number;
  /** Names that are not directories. */
  readonly files: number;
  readonly directories: number;
  /** Names of files and symlinks with more than one name. */
  readonly linked: number;
}

/** Address of a node known to a client: its path when it was loaded, and its id. Use whichever suits the layout. */
export interface NodeAddress {
  readonly path: string;
  readonly id: NodeId;
}

/** Something to load. A call has a list of them; the results are in the same order and all of one point in time. */
export type LoadRequest =
  /** The nodes along a path, from the root; links are not followed. */
  | {
      readonly kind: 'path';
      readonly path: string;
      /** Also send the content if the path leads to a file of at most this size, in bytes. */
      readonly content: number;
    }
  /** Names in a directory, after `after` in UTF-8 order, at most `limit`. */
  | { readonly kind: 'list'; readonly at: NodeAddress; readonly after: string | undefined; readonly limit: number }
  /**
   * Everything under a directory, parents before children, in whole listings, until about `budget` bytes are used;
   * contents only if `contents`.
   */
  | { readonly kind: 'tree'; readonly at: NodeAddress; readonly budget: number; readonly contents: boolean }
  /** A range of a file's content. */
  | { readonly kind: 'content'; readonly at: NodeAddress; readonly offset: number; readonly length: number };

/** Result of one load request; `gone` if its address no longer leads to a node of that id and of a fitting kind. */
export type LoadResult =
  | {
      readonly kind: 'path';
      /** The root first; null for a name known to be missing, which ends the list. */
      readonly nodes: readonly (NodeRecord | null)[];
      readonly content?: Uint8Array;
    }
  | {
      readonly kind: 'list';
      readonly directory: NodeRecord;
      readonly names: readonly string[];
      readonly nodes: readonly NodeRecord[];
      /** True if the listing ends here. */
      readonly complete: boolean;
    }
  | {
      readonly kind: 'tree';
      readonly directory: NodeRecord;
      /** Complete listings, parents first. Directories that did not fit are missing. */
      readonly listings: readonly Listing[];
    }
  | { readonly kind: 'content'; readonly file: NodeRecord; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: 'gone' };

export interface Listing {
  /** Path of the directory, relative to the request's: '' is the directory itself, then `a`, `a/b` … */
  readonly path: string;
  readonly names: readonly string[];
  readonly nodes: readonly NodeRecord[];
  /** Contents by position in `names`, if the request asked for them and they fitted. */
  readonly contents?: readonly (Uint8Array | undefined)[];
}

/** A precondition on the state before the batch. */
export type Check =
  /** The path leads to this id (null: to nothing) and, if given, the node has this version. Links are not followed. */
  | {
      readonly kind: 'entry';
      readonly path: string;
      readonly id: NodeId | null;
      readonly version?: Version | undefined;
    }
  /** The directory is empty. */
  | { readonly kind: 'empty'; readonly path: string; readonly id: NodeId }
  /** The directory's listing has this version. */
  | { readonly kind: 'listing'; readonly path: string; readonly id: NodeId; readonly version: Version }
  /** Nothing at or under the directory has changed since this version. */
  | { readonly kind: 'tree'; readonly path: string; readonly id: NodeId; readonly version: Version };

/** A run of bytes in a file. */
export interface Part {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** One change. Changes apply in order; paths refer to the state that the previous writes have made. */
export type Write =
  /** A new node under a free name. */
  | {
      readonly kind: 'create';
      readonly path: string;
      readonly id: NodeId;
      readonly type: EntryKind;
      readonly meta: Metadata;
      readonly content?: Uint8Array;
      readonly target?: string;
    }
  /** Adds a name for the file or symlink at `from`. */
  | { readonly kind: 'link'; readonly from: string; readonly path: string }
  /**
   * Removes the name, a directory with everything under it. Files that lose one of several names get `time` as ctime.
   */
  | { readonly kind: 'remove'; readonly path: string; readonly time: number }
  /** Moves the name to a free one; the node's ctime becomes `time`. */
  | { readonly kind: 'move'; readonly from: string; readonly to: string; readonly time: number }
  /**
   * Copies the node at `from`, a directory with everything under it, to the free name `to`. Contents may be shared. The
   * copies have new ids; `meta` is the top copy's; everything under it gets owner and group 0, ctime and birthtime
   * `time`, and without `keepTimes` the other times too.
   */
  | {
      readonly kind: 'copy';
      readonly from: string;
      readonly to: string;
      readonly id: NodeId;
      readonly meta: Metadata;
      readonly time: number;
      readonly keepTimes: boolean;
    }
  /**
   * Sets the file's content to `size` bytes: its old content, cut or extended by zeros, with `parts` written over it.
   */
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly size: number;
      readonly parts: readonly Part[];
      readonly meta: Metadata;
    }
  | { readonly kind: 'meta'; readonly path: string; readonly meta: Metadata }
  /** Sets the directory's mtime and ctime to `time`, because a name in it has changed. */
  | { readonly kind: 'touch'; readonly path: string; readonly time: number }
  /**
   * Replaces the whole state by the entries that follow in the batch: the root stays, with this metadata, and is empty.
   */
  | { readonly kind: 'clear'; readonly meta: Metadata };

/** Reports whether a write empties a file, or gives its whole content in one part. */
export function isWholeWrite({ size, parts }: Extract<Write, { kind: 'write' }>): boolean {
  const [part, more] = parts;
  return size === 0 || (part?.offset === 0 && part.bytes.byteLength === size && more === undefined);
}

/** A batch's effect on one name, for watchers. */
export interface Announcement {
  /** `reset`: the whole state was replaced, or events may have been missed. */
  readonly type: 'create' | 'modify' | 'remove' | 'rename' | 'reset';
  readonly path: string;
  /** Old path of a `rename`. */
  readonly from?: string;
  /** Kind of the node that is or was there, if known. */
  readonly kind?: EntryKind;
  /** For `create`: true if the file was created with content. */
  readonly hasContent?: boolean;
}

/** Preconditions and writes, applied in one atomic step. */
export interface Batch {
  /**
   * Unique; recorded with the writes, so that sending an applied batch again does nothing and returns the same result.
   */
  readonly operationId: string;
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
  /** Limits that the client relied on. The backend enforces them, unless others are stored: see {@link LimitStore}. */
  readonly limits: Limits;
  /** Events for watchers, in order. A backend without `watch` ignores them. */
  readonly changes?: readonly Announcement[];
  /** See {@link BackendCapabilities.journaled}. */
  readonly journaled?: boolean;
}

export type CommitResult =
  /** `version` is now the version of each node that exists at a `path` or `to` of the batch's writes. */
  | { readonly kind: 'ok'; readonly version: Version }
  /** A precondition failed; nothing changed. `checks` has the positions of failed checks, not necessarily of all. */
  | { readonly kind: 'conflict'; readonly checks: readonly number[] }
  /** The batch would exceed a limit; nothing changed. */
  | {
      readonly kind: 'limit';
      readonly limit: 'maxTotalSize' | 'maxFileSize' | 'maxNodeCount';
      readonly allowed: number;
      readonly used: number;
      readonly requested: number;
    }
  /** The filesystem stores limits that differ from those of the batch; nothing changed. */
  | { readonly kind: 'other-limits'; readonly limits: Limits };

/** Abilities of a backend beyond loading and committing. The testkit tests the declared ones. */
export interface BackendCapabilities {
  /**
   * False if other clients can see a batch of several writes half done: `transaction` is then ENOTSUP. Default true.
   */
  readonly transactions?: boolean;
  /**
   * True if batches marked `journaled` are applied completely or not at all, even if this process is killed, although
   * other clients may see a part of them. Default false.
   */
  readonly journaled?: boolean;
  /** False if every batch with writes is refused. Default true. */
  readonly writes?: boolean;
  readonly checkpoints: boolean;
  readonly forks: boolean;
  readonly sharedWatch: boolean;
}

export interface BackendCall {
  /**
   * Aborts the call. The engine creates it lazily, so a backend that does not use it should not read it. A mutation
   * that surely stopped in time reports a StorageError with `mayHaveHappened: false`; the engine waits a moment for it.
   */
  readonly signal?: AbortSignal | undefined;
  /** True if the call is already aborted, as far as known without creating the signal: check this first. */
  readonly isAborted?: boolean | undefined;
  /**
   * For a load: true if the backend may return a state that this client has seen before, to save a request, but none
   * older than its earlier results for this client. The engine confirms such results before it relies on them. Default
   * false.
   */
  readonly mayBeOld?: boolean | undefined;
}

/**
 * Checkpoints: states kept by id and name, outside the state itself. Each method is one atomic step.
 *
 * Parts that a checkpoint shares with the current state have the same ids and versions in both: if the `tree` versions
 * of a directory are equal, everything under it is, and a comparison skips it.
 */
export interface CheckpointStore {
  /**
   * Keeps the current state. The same id again is the same request: it returns `ok` and keeps the earlier state.
   * `exists`: the name is the name or the id of a checkpoint. `max` is the greatest number of checkpoints, unless limits
   * are stored.
   */
  create(
    id: string,
    name: string | undefined,
    createdAt: number,
    max: number | undefined,
    call?: BackendCall,
  ): Promise<'ok' | 'exists' | 'limit'>;
  list(
    call?: BackendCall,
  ): Promise<readonly { readonly id: string; readonly name: string | undefined; readonly createdAt: number }[]>;
  /**
   * Restores the state. Refused, without any change, if usage would grow above `maxTotalSize` or `maxNodeCount` of the
   * stored limits, or of `limits` if none are stored.
   */
  restore(
    id: string,
    limits: Limits,
    call?: BackendCall,
  ): Promise<'ok' | 'missing' | Extract<CommitResult, { kind: 'limit' }>>;
  drop(id: string, call?: BackendCall): Promise<boolean>;
  /** Like `Backend.load`, for a checkpoint instead of the current state. */
  load(id: string, requests: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[] | 'missing'>;
  /** Like `Backend.fork`, from the state of a checkpoint. Present if the backend declares `forks`. */
  fork?(id: string, call?: BackendCall): Promise<Backend | 'missing'>;
}

/**
 * Limits that are stored with the filesystem, for all clients. Once limits are stored, a batch of writes with other
 * limits is refused, with the result `other-limits`, so that no client commits under limits that do not hold any more.
 * Checkpoints are created and restored under the stored limits. Each method is one atomic step that has the same effect
 * if it arrives twice.
 */
export interface LimitStore {
  /** Returns the stored limits. If there are none, stores `initial` first; `{}` stands for no limits. */
  open(initial: Limits, call?: BackendCall): Promise<Limits>;
  /** Replaces the stored limits. */
  set(limits: Limits, call?: BackendCall): Promise<void>;
}

/** A state that stays readable regardless of later commits. */
export interface PinnedRead {
  /** Like `Backend.load`, for this state. @throws StorageError `conflict` if it is no longer kept */
  load(requests: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[]>;
  /** Called when the state is no longer needed. Must not throw. */
  release?(): void;
}

/**
 * Interface of a storage adapter: a tree of nodes that is loaded in pieces and changed in atomic batches. It receives
 * checked arguments and implements no POSIX rule. A failure is a `StorageError`; if it says `mayHaveHappened`, as kinds
 * `unavailable` and `timeout` do by default, the batch may have been applied, and the engine then calls `outcome`.
 */
export interface Backend {
  readonly capabilities: BackendCapabilities;
  load(requests: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[]>;
  commit(batch: Batch, call?: BackendCall): Promise<CommitResult>;
  /**
   * Returns the result of a batch, `absent` if it was not and will never be applied, `unknown` if that cannot be
   * determined.
   */
  outcome(operationId: string, call?: BackendCall): Promise<CommitResult | 'absent' | 'unknown'>;
  readonly checkpointStore?: CheckpointStore;
  /** Absent if limits hold only for the clients of this object. */
  readonly limitStore?: LimitStore;
  /**
   * Pins the current state, to be read in several loads. Transactions, searches and other long reads use it. Those that
   * write nothing then need not run again because of concurrent writers.
   */
  pinRead?(call?: BackendCall): Promise<PinnedRead>;
  /**
   * True if pinning needs a request of its own: then only work that has lost a race reads from a pin. Default false.
   */
  readonly hasCostlyPins?: boolean;
  /**
   * Returns an independent backend that starts from the current state and has no checkpoints. It has no name: its state
   * may be freed when it is closed. Present if `forks` is declared.
   */
  fork?(call?: BackendCall): Promise<Backend>;
  /**
   * From this call on, passes the `changes` of each batch of every client to `tell`, once and in commit order. Those of
   * this client's batches are passed before `commit` returns, unless the connection for notifications is down. A
   * restored state, or events that may have been missed, are reported as `reset`. If nothing can be reported any more,
   * `fail` is called once, after all reports and never before this call returns; watchers then end with its error. The
   * returned function ends the reports of this call, not those of another call with the same functions. Present if
   * `sharedWatch` is declared.
   */
  watch?(tell: (changes: readonly Announcement[]) => void, fail: (error: unknown) => void): () => void;
  /** Deletes the filesystem with its checkpoints and forks. It may be called again after a failure. */
  destroy?(call?: BackendCall): Promise<void>;
  close(): Promise<void>;
}
