import type { EntryKind } from './entry.js';
import type { Limits } from './limits.js';

/** The identity of a node: it survives renames. Opaque; chosen by whoever creates the node; the root's is given by the backend. */
export type NodeId = string | number;

/**
 * Changes whenever the thing it stands for changes. Opaque but for equality: where two facts about the same id have the
 * same version, they say the same, in whichever states they were read (the current one, one that is kept). An old version
 * comes back only where the old thing does: by a restore.
 */
export type Version = number | string;

/** Stands where a client no longer knows a version; no backend uses it. */
export const UNKNOWN_VERSION: Version = '?';

/** Metadata of a node. A backend stores it whole and reads nothing into it. Times are epoch milliseconds. */
export interface Metadata {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly atime: number;
  readonly mtime: number;
  readonly ctime: number;
  readonly birthtime: number;
}

/** What a backend knows of a node. */
export interface NodeRecord {
  readonly id: NodeId;
  readonly kind: EntryKind;
  readonly meta: Metadata;
  /** Changes when content, metadata or number of names change; of a directory only with its metadata. */
  readonly version: Version;
  /** Bytes of content or of the target; 0 for a directory. */
  readonly size: number;
  /** Names that lead here; 1 for a directory. */
  readonly links: number;
  /** Of a symlink. */
  readonly target?: string;
  /** Of a symlink that leads out of what the backend holds: it can be read, and following it is EACCES. */
  readonly outside?: boolean;
  /** Of a directory. */
  readonly directory?: DirectoryRecord;
}

export interface DirectoryRecord {
  /** Changes when a name is added, removed or leads to another node. Never `UNKNOWN_VERSION`. */
  readonly listing: Version;
  /** Changes exactly when something at or beneath the directory changes. */
  readonly tree: Version;
  /** Names directly in it. */
  readonly count: number;
  /** Everything beneath it, itself not counted. Of the root: of the whole filesystem, where each file with several names counts once in `size`. */
  readonly totals: Totals;
  /** False where the backend does not count and does not know when something beneath changes: `totals` and `tree` say nothing then, and what needs them looks at everything beneath. Default true. */
  readonly counted?: boolean;
}

export interface Totals {
  /** Bytes; a file with several names counts in no directory, only in the whole filesystem. */
  readonly size: number;
  /** Names that are no directory. */
  readonly files: number;
  readonly directories: number;
  /** Names that lead to files with more than one name. */
  readonly linked: number;
}

/** A place a client knows of: the path it had when it was loaded, and its id. Use whichever suits the layout. */
export interface NodeAddress {
  readonly path: string;
  readonly id: NodeId;
}

/** Something to load. Many wants go in one request; the facts come back in their order and are all of one moment. */
export type LoadRequest =
  /** The nodes along a path, from the root; links are not followed (a backend may send what they lead to as a hint). */
  | {
      readonly kind: 'path';
      readonly path: string /** Also send the content of a final file up to this size. */;
      readonly content: number;
    }
  /** Names in a directory, after `after` in UTF-8 order, at most `limit`. */
  | { readonly kind: 'list'; readonly at: NodeAddress; readonly after: string | undefined; readonly limit: number }
  /** Everything beneath a directory, parents before children, in whole listings, until about `budget` bytes are used; contents only where `contents`. */
  | { readonly kind: 'tree'; readonly at: NodeAddress; readonly budget: number; readonly contents: boolean }
  /** A range of a file's content. */
  | { readonly kind: 'content'; readonly at: NodeAddress; readonly offset: number; readonly length: number };

/** The answer to one want; `gone` where its place no longer has that id. */
export type LoadResult =
  | {
      readonly kind: 'path' /** The root first; null where the name is known to be absent, and then nothing after it. */;
      readonly nodes: readonly (NodeRecord | null)[];
      readonly content?: Uint8Array;
    }
  | {
      readonly kind: 'list';
      readonly directory: NodeRecord;
      readonly names: readonly string[];
      readonly nodes: readonly NodeRecord[] /** Whether the listing ends here. */;
      readonly complete: boolean;
    }
  | {
      readonly kind: 'tree';
      readonly directory: NodeRecord /** Listings, parents first; each complete. Directories that did not fit are just not among them. */;
      readonly listings: readonly Listing[];
    }
  | { readonly kind: 'content'; readonly file: NodeRecord; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: 'gone' };

export interface Listing {
  /** Path of the directory, relative to the want's: '' is the directory itself, then `a`, `a/b` … */
  readonly path: string;
  readonly names: readonly string[];
  readonly nodes: readonly NodeRecord[];
  /** Contents by position in `names`, where the want asked for them and they fitted. */
  readonly contents?: readonly (Uint8Array | undefined)[];
}

/** A condition on the state before the batch. */
export type Check =
  /** The path leads to this id (null: to nothing) and, where given, the node has this version. Links are not followed. */
  | {
      readonly kind: 'entry';
      readonly path: string;
      readonly id: NodeId | null;
      readonly version?: Version | undefined;
    }
  /** The directory has no names. */
  | { readonly kind: 'empty'; readonly path: string; readonly id: NodeId }
  /** The directory's listing has this version. */
  | { readonly kind: 'listing'; readonly path: string; readonly id: NodeId; readonly version: Version }
  /** Nothing at or beneath the directory has changed since this version. */
  | { readonly kind: 'tree'; readonly path: string; readonly id: NodeId; readonly version: Version };

/** A run of bytes in a file. */
export interface Part {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** One change, applied in order; paths mean the state that the writes before it have made. */
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
  /** A further name for the file or symlink at `from`. */
  | { readonly kind: 'link'; readonly from: string; readonly path: string }
  /** Takes the name away, a directory with all that is beneath it. Files that lose one of several names by it get `time` as ctime. */
  | { readonly kind: 'remove'; readonly path: string; readonly time: number }
  /** Moves the name to a free one; the node's ctime becomes `time`. */
  | { readonly kind: 'move'; readonly from: string; readonly to: string; readonly time: number }
  /** Copies the node at `from`, a directory with all beneath it, to the free name `to`. Contents may be shared. The copies have new ids; `meta` is the copy's own; of all beneath, owner and group become 0, ctime and birthtime become `time`, and without `keepTimes` the other times too. */
  | {
      readonly kind: 'copy';
      readonly from: string;
      readonly to: string;
      readonly id: NodeId;
      readonly meta: Metadata;
      readonly time: number;
      readonly keepTimes: boolean;
    }
  /** The file's content becomes `size` bytes: its old content, cut or followed by zeros, then `parts` written over it. */
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly size: number;
      readonly parts: readonly Part[];
      readonly meta: Metadata;
    }
  | { readonly kind: 'meta'; readonly path: string; readonly meta: Metadata }
  /** A name in the directory changed: its mtime and ctime become `time`. */
  | { readonly kind: 'touch'; readonly path: string; readonly time: number }
  /** Replaces the whole state with the entries that follow in the batch: the root stays, with this metadata, and is empty. */
  | { readonly kind: 'clear'; readonly meta: Metadata };

/** Whether nothing of a file's old content is left by a write. */
export function isWholeWrite({ size, parts }: Extract<Write, { kind: 'write' }>): boolean {
  const [part, more] = parts;
  return size === 0 || (part?.offset === 0 && part.bytes.byteLength === size && more === undefined);
}

/** What a batch did to one name, as watchers hear it. */
export interface Announcement {
  /** `reset`: the whole state has become another one, or some of what happened was not heard. */
  readonly type: 'create' | 'modify' | 'remove' | 'rename' | 'reset';
  readonly path: string;
  /** Of `rename`. */
  readonly from?: string;
  /** Of what is or was there, where it is known. */
  readonly kind?: EntryKind;
  /** Of `create`: a file came with something in it. */
  readonly hasContent?: boolean;
}

/** Checks and writes in one atomic step. */
export interface Batch {
  /** Unique; recorded with the writes, so that sending the same batch again does nothing and answers the same. */
  readonly operationId: string;
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
  readonly limits: Limits;
  /** What those who watch are to be told of it, in its order. A backend without `watch` leaves it alone. */
  readonly changes?: readonly Announcement[];
}

export type CommitResult =
  /** `version` is now the version of every node that the batch created, wrote, or gave metadata or times. */
  | { readonly kind: 'ok'; readonly version: Version }
  /** A check failed; nothing changed. `checks` are the positions of some that failed. */
  | { readonly kind: 'conflict'; readonly checks: readonly number[] }
  /** The state after the batch would exceed a limit; nothing changed. */
  | {
      readonly kind: 'limit';
      readonly limit: 'maxTotalSize' | 'maxFileSize' | 'maxNodeCount';
      readonly allowed: number;
      readonly used: number;
      readonly requested: number;
    };

/** What a backend can do beyond loading and committing. The test kit tests what is declared. */
export interface BackendCapabilities {
  /** False where several writes of a batch are not one step for others: `transaction` is ENOTSUP then. Default true. */
  readonly transactions?: boolean;
  readonly checkpoints: boolean;
  readonly forks: boolean;
  readonly sharedWatch: boolean;
}

export interface BackendCall {
  /**
   * Tells to stop. The engine makes it when it is asked for: a backend that has no use for it does not look at it. Of what
   * changes something, one that surely stopped in time says so with a StorageError whose `mayHaveHappened` is false; the
   * engine waits a moment for it.
   */
  readonly signal?: AbortSignal | undefined;
  /** Whether that has happened, where that is known without the signal: a backend that only wants to know asks here first. */
  readonly isAborted?: boolean | undefined;
  /** Of a load: a state that this client has seen before will do, where that saves a request, but never one that is older than what this client was answered before: what is answered is confirmed before it counts. Default false. */
  readonly mayBeOld?: boolean | undefined;
}

/**
 * States kept by id and name, outside the state itself. Each method is one atomic step.
 *
 * What a kept state and the current one have in common has the same ids and versions in both: where the `tree` version of
 * a directory is equal, all beneath it is, and a comparison does not look there.
 */
export interface CheckpointStore {
  /** Keeps the state as it is now. The same id again is the same request: it answers `ok` and keeps what it kept. */
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
  /** Makes the state what it was; refused like a commit where it exceeds a limit. */
  restore(
    id: string,
    limits: Limits,
    call?: BackendCall,
  ): Promise<'ok' | 'missing' | Extract<CommitResult, { kind: 'limit' }>>;
  drop(id: string, call?: BackendCall): Promise<boolean>;
  /** What `Backend.load` answers, of a kept state instead of the current one. */
  load(id: string, wants: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[] | 'missing'>;
}

/** A state that goes on being what it was, whatever is committed meanwhile. */
export interface PinnedRead {
  /** What `Backend.load` answers, of this state. @throws StorageError `conflict` where it is no longer kept */
  load(wants: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[]>;
}

/**
 * What an adapter implements: a tree of nodes that is loaded in pieces and changed in atomic batches. It receives
 * checked arguments and knows no POSIX rule. A failure is a `StorageError`; where it says `mayHaveHappened`, as those of
 * kind `unavailable` and `timeout` do by default, the batch may have been applied, and the engine then asks `outcome`.
 */
export interface Backend {
  readonly capabilities: BackendCapabilities;
  load(wants: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[]>;
  commit(batch: Batch, call?: BackendCall): Promise<CommitResult>;
  /** What became of a batch: its result, `absent` when it was not and will never be applied, `unknown` when that cannot be told. */
  outcome(operationId: string, call?: BackendCall): Promise<CommitResult | 'absent' | 'unknown'>;
  readonly checkpointStore?: CheckpointStore;
  /**
   * The current state, to be read in several loads. Where there are such moments, what only reads is never repeated because
   * of those who write.
   */
  pinRead?(call?: BackendCall): Promise<PinnedRead>;
  /**
   * An independent backend that begins with the current state and keeps no others. It has no name: when it is closed its
   * state may be freed. Where `forks` is declared.
   */
  fork?(call?: BackendCall): Promise<Backend>;
  /**
   * From this call on tells what each batch says of itself (`changes`), whoever commits it, once and in the order of the
   * commits; of this client's own before `commit` answers, unless those who would tell cannot be reached just then. A
   * restored state, and whatever may have been missed, is a `reset`. What it answers ends it. Where `sharedWatch` is declared.
   */
  watch?(tell: (changes: readonly Announcement[]) => void): () => void;
  close(): Promise<void>;
}
