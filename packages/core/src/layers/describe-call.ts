import type { ReadFileOptions } from '../argument-types.js';
import { encodedContent } from '../engine/operations/write.js';
import { utf8Length } from '../paths.js';
import type { Call } from './intercept.js';

/** Returns the paths of a call as given, without values that are not text. */
export function pathsOf(call: Call): string[] {
  if (call.on === 'handle') return [call.path];
  return call.spec
    .paths(call.args)
    .map((use) => use.path)
    .filter((path) => typeof path === 'string');
}

export function detailOf(call: Call): string | undefined {
  const [first, second] = call.args;
  if (call.on === 'handle') return undefined;
  switch (call.name) {
    case 'open':
      return flagsText(second);
    case 'symlink':
    case 'checkpoint':
      return typeof first === 'string' ? first : undefined;
    case 'rollback':
    case 'drop':
    case 'at':
      return checkpointName(first);
    case 'run':
    case 'iterate':
    case 'transaction':
      return functionName(first);
    default:
      return undefined;
  }
}

/** Returns the size in bytes of the content that a call got or returned; undefined if it is not known. */
export function bytesOf(call: Call, result: unknown): number | undefined {
  const [first, second] = call.args;
  if (call.on === 'handle') {
    if (call.name === 'read' || call.name === 'write') return result as number;
    if (call.name === 'readFile') return sizeIn(first, result);
    return call.name === 'writeFile' ? sizeIn(second, first) : undefined;
  }
  switch (call.name) {
    case 'readFile':
      return sizeIn(second, result);
    case 'readText':
      return sizeOf(result);
    case 'readLines':
      return sum(result as string[], utf8Length);
    case 'getEntry':
      return sizeOf((result as { content: unknown }).content);
    case 'writeFile':
    case 'appendFile':
      return sizeIn(call.args[2], second);
    case 'writeLines':
      return Array.isArray(second) ? sum(second as string[], (line) => utf8Length(line) + 1) : undefined;
    default:
      return undefined;
  }
}

/** Returns the size of content in bytes. Text is measured in the encoding of the method's options. */
function sizeIn(options: unknown, content: unknown): number | undefined {
  if (typeof content !== 'string') return sizeOf(content);
  const encoding = typeof options === 'string' ? options : (Object(options) as ReadFileOptions).encoding;
  return sizeOf(encodedContent(content, encoding));
}

function sizeOf(content: unknown): number | undefined {
  if (typeof content === 'string') return utf8Length(content);
  return (content as { byteLength?: number } | undefined)?.byteLength;
}

function sum(lines: readonly string[], size: (line: string) => number): number {
  return lines.reduce((total, line) => total + size(line), 0);
}

function checkpointName(checkpoint: unknown): string | undefined {
  if (typeof checkpoint === 'string') return checkpoint;
  const id = (checkpoint as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' ? id : undefined;
}

function functionName(value: unknown): string | undefined {
  return typeof value === 'function' && value.name !== '' ? value.name : undefined;
}

/** Returns the flags of `open` as text. Of an options object, these are the names of the options that are true. */
function flagsText(flags: unknown): string {
  if (typeof flags === 'string') return flags;
  if (typeof flags !== 'object' || flags === null) return 'r';
  const words = Object.entries(flags).flatMap(([word, value]) => (value === true ? [word] : []));
  return words.join(' ');
}
