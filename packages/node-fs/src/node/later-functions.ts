import type { Dirent, EncodingOption } from 'node:fs';

export interface GlobOptions {
  /** Where relative patterns begin. Default `/`. */
  readonly cwd?: string | URL | undefined;
  /** What is left out, with all beneath it: patterns, or a function that is asked of each name. */
  readonly exclude?: readonly string[] | ((name: string) => boolean) | undefined;
  readonly withFileTypes?: false | undefined;
}

export interface GlobOptionsWithFileTypes extends Omit<GlobOptions, 'exclude' | 'withFileTypes'> {
  readonly exclude?: readonly string[] | ((entry: Dirent) => boolean) | undefined;
  readonly withFileTypes: true;
}

type Patterns = string | readonly string[];
type Callback<R> = (error: NodeJS.ErrnoException | null, result: R) => void;

/** A directory that is gone with its scope. */
export interface DisposableDirectory {
  readonly path: string;
  remove(): void;
  [Symbol.dispose](): void;
}

/** What `node:fs` has since Node 22 and 24, whatever Node this is. */
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
