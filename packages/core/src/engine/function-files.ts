import type { FsError } from '../errors.js';
import { FILE, type FileNode, type Node, Unloaded } from '../tree/node.js';
import type { Location } from '../tree/tree.js';

/** Content of a file that a caller's function returns. */
export interface PendingData extends Unloaded {
  /**
   * Returns the bytes, which must not be changed. Calls the function unless it is running or its bytes are known.
   * @throws FsError EAGAIN while an asynchronous function runs; EIO if the function throws, or returns anything but
   *   content of the size that was given, if any
   */
  bytes(path?: string): Uint8Array;
}

/**
 * The code for files whose content a function returns. The entry point `function-files` installs it, so that other
 * bundles lack it. `view` is a `View`: importing its type would close a circle of imports.
 */
export interface FunctionFiles {
  /** Loads the content of a file and stores it in the tree, unless the view shows a checkpoint. */
  settle(view: object, parent: Location, name: string, file: PendingFile, path: string): Node;
  /**
   * Replaces the content of a file by one that a function returns. @throws TypeError, RangeError; FsError for a limit
   */
  set(view: object, path: string, content: unknown): void;
  /** Checks the content of an initial file. @throws TypeError, RangeError */
  check(content: unknown, path: string): void;
  /** Reports whether work failed because a content is not loaded yet. */
  isLoading(failure: unknown): boolean;
  /**
   * Repeats work that failed because a content was not loaded yet, once it is loaded.
   * @throws FsError EIO if it cannot be loaded; the signal's reason; any other failure itself
   */
  afterLoading<T>(failure: unknown, work: () => T | Promise<T>, signal: AbortSignal | undefined): Promise<T>;
}

/** A file whose content is pending. */
export type PendingFile = FileNode & { readonly data: PendingData };

let installed: FunctionFiles | undefined;

export function installFunctionFiles(functionFiles: FunctionFiles): void {
  installed = functionFiles;
}

/** @throws TypeError if the entry point is not imported */
export function functionFiles(): FunctionFiles {
  if (installed === undefined)
    throw new TypeError("Files whose content a function returns need import 'scratchfs/function-files'");
  return installed;
}

export function isPending(data: FileNode['data']): data is PendingData {
  return data instanceof Unloaded && data.bytes !== undefined;
}

export function isPendingFile(node: Node): node is PendingFile {
  return node.kind === FILE && isPending(node.data);
}

/** {@link FunctionFiles.isLoading} */
export function isLoading(failure: unknown): failure is FsError {
  return installed?.isLoading(failure) === true;
}

/** {@link FunctionFiles.afterLoading} */
export async function afterLoading<T>(
  failure: unknown,
  work: () => T | Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (installed === undefined) throw failure;
  return installed.afterLoading(failure, work, signal);
}
