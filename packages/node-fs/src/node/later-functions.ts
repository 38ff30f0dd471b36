import type { Dirent, EncodingOption } from 'node:fs';

export interface GlobOptions {
  /** Directory of relative patterns. Default `/`. */
  readonly cwd?: string | URL | undefined;
  /** Entries to leave out, with everything under them: patterns, or a function called with each name. */
  readonly exclude?: readonly string[] | ((name: string) => boolean) | undefined;
  readonly withFileTypes?: false | undefined;
}

export interface GlobOptionsWithFileTypes extends Omit<GlobOptions, 'exclude' | 'withFileTypes'> {
  readonly exclude?: readonly string[] | ((entry: Dirent) => boolean) | undefined;
  readonly withFileTypes: true;
}

type Patterns = string | readonly string[];
type Callback<R> = (error: NodeJS.ErrnoException | null, result: R) => void;

/** A temporary directory that is removed when the scope of its variable (`using`) ends. */
export interface DisposableDirectory {
  readonly path: string;
  remove(): void;
  [Symbol.dispose](): void;
}

/** Functions that `node:fs` has since Node 22 and 24, regardless of the running version. */
export interface LaterFunctions {
  glob(pattern: Patterns, callback: Callback<string[]>): void;
  glob(pattern: Patterns, options: GlobOptions, callback: Callback<string[]>): void;
  glob(pattern: Patterns, options: GlobOptionsWithFileTypes, callback: Callback<Dirent[]>): void;
  globSync(pattern: Patterns, options?: GlobOptions): string[];
  globSync(pattern: Patterns, options: GlobOptionsWithFileTypes): Dirent[];
  mkdtempDisposableSync(prefix: string, options?: EncodingOption): DisposableDirectory;
  readonly promises: LaterPromises;
}

export interface LaterPromises {
  glob(pattern: Patterns, options?: GlobOptions): AsyncIterableIterator<string>;
  glob(pattern: Patterns, options: GlobOptionsWithFileTypes): AsyncIterableIterator<Dirent>;
  mkdtempDisposable(
    prefix: string,
    options?: EncodingOption,
  ): Promise<{ readonly path: string; remove(): Promise<void>; [Symbol.asyncDispose](): Promise<void> }>;
}
