/** A result, immediate or as a promise; {@link Subject.isAsync} says which. */
export type Answer<T> = T | Promise<T>;

/** A filesystem as the benchmark uses it: the operations that all of them have, under one set of names. */
export interface Subject {
  /** True if results are promises. */
  readonly isAsync: boolean;
  /** True if contents are outside this process, so that their size cannot be measured. */
  readonly isOutside?: boolean;
  mkdir(path: string): Answer<unknown>;
  write(path: string, data: Uint8Array): Answer<unknown>;
  read(path: string): Answer<Uint8Array>;
  readText(path: string): Answer<string>;
  /** Size of a file's content, in bytes. */
  size(path: string): Answer<number>;
  exists(path: string): Answer<boolean>;
  /** Returns sorted names. */
  list(path: string): Answer<readonly string[]>;
  append(path: string, data: Uint8Array): Answer<unknown>;
  remove(path: string): Answer<unknown>;
  copy(from: string, to: string): Answer<unknown>;
  rename(from: string, to: string): Answer<unknown>;
  /** Counts the files in a directory by its listing alone. */
  countFiles?(path: string): Answer<number>;
  /** Counts everything under a path. */
  countAll?(path: string): Answer<number>;
  /** Opens a file for positional writes. */
  writer?(path: string): (data: Uint8Array, position: number) => unknown;
  /** Saves a state for `rollback`. */
  checkpoint?(): unknown;
  rollback?(checkpoint: unknown): void;
  drop?(checkpoint: unknown): void;
  /** True if a checkpoint or fork copies everything, so that one takes as long as thousands do for other subjects. */
  readonly copiesAll?: boolean;
  fork?(): Subject;
  /** Returns the whole state as bytes. */
  save?(): Uint8Array;
  load?(bytes: Uint8Array): void;
  /** Like `load`, but the bytes become the filesystem's own and are not copied. */
  adopt?(bytes: Uint8Array): void;
}

/** Creates an empty filesystem of its kind. */
export type Make = () => Answer<Subject>;
