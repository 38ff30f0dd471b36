/** What answers at once or later; which of both is {@link Subject.isAsync}. */
export type Answer<T> = T | Promise<T>;

/** A filesystem as the bench uses it: what all of them can do, under one set of names. */
export interface Subject {
  /** Its answers are promises. */
  readonly isAsync: boolean;
  /** What it holds lies outside of this process, where its size cannot be told. */
  readonly isOutside?: boolean;
  mkdir(path: string): Answer<unknown>;
  write(path: string, data: Uint8Array): Answer<unknown>;
  read(path: string): Answer<Uint8Array>;
  readText(path: string): Answer<string>;
  /** Bytes of a file's content. */
  size(path: string): Answer<number>;
  exists(path: string): Answer<boolean>;
  /** Names, sorted. */
  list(path: string): Answer<readonly string[]>;
  append(path: string, data: Uint8Array): Answer<unknown>;
  remove(path: string): Answer<unknown>;
  copy(from: string, to: string): Answer<unknown>;
  rename(from: string, to: string): Answer<unknown>;
  /** Entries of a directory that are files, told by its listing and nothing else. */
  countFiles?(path: string): Answer<number>;
  /** Everything beneath a path. */
  countAll?(path: string): Answer<number>;
  /** Opens a file for writes at positions. */
  writer?(path: string): (data: Uint8Array, position: number) => unknown;
  /** A state to go back to, and the way back. */
  checkpoint?(): unknown;
  rollback?(checkpoint: unknown): void;
  drop?(checkpoint: unknown): void;
  /** Its checkpoints and forks are copies of everything: one takes as long as thousands of others'. */
  readonly copiesAll?: boolean;
  fork?(): Subject;
  /** The whole state as bytes, and a filesystem made of them. */
  save?(): Uint8Array;
  load?(bytes: Uint8Array): void;
  /** The same, where the bytes become the filesystem's own and are not copied. */
  adopt?(bytes: Uint8Array): void;
}

/** Makes an empty filesystem of its kind. */
export type Make = () => Answer<Subject>;
