import { captureArgument, captureContent } from '../engine/arguments.js';
import type { Content } from '../file-system.js';

/**
 * Captures the arguments of a method, so that later changes by the caller have no effect although paths are resolved
 * first. The lines of `writeLines` are captured only if they are an array.
 */
export function captureArguments(name: string, args: readonly unknown[]): readonly unknown[] {
  const [path, data, ...rest] = args.map(captureArgument);
  if (name === 'writeFile' || name === 'appendFile') return [path, captureContent(data as Content), ...rest];
  if (name === 'writeLines' && Array.isArray(data)) return [path, [...data], ...rest];
  return [path, data, ...rest].slice(0, args.length);
}
