import { installFunctionFiles, isLoading } from './engine/function-files.js';
import { FUNCTION_FILES } from './engine/pending-content.js';

installFunctionFiles(FUNCTION_FILES);

/**
 * Reports whether a synchronous method failed because an asynchronous function has not returned a file's content yet
 * (EAGAIN). `await fs.readFile(path)` waits for it.
 */
export function isContentLoading(error: unknown): boolean {
  return isLoading(error);
}

export type { FileFunction, FunctionFile } from './create-file-system.js';
