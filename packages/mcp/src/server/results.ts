import type { CallToolResult } from '@modelcontextprotocol/server';
import { nameInList } from '@scratchfs/core/internal';
import type { ToolResult } from '@scratchfs/tools';
import type { Operation } from '@scratchfs/workspace';
import { changesOf } from './changes.js';
import { uriOf } from './uri.js';

/** Maximum length of a result's text in UTF-16 units. */
export const MAX_RESULT_LENGTH = 40_000;

/** A result with more links than this has none: some hosts show each of them to the model. */
const MAX_LINKS = 10;

/** JSON Schema of the `structuredContent` of a call that changes something. */
export const CHANGES_SCHEMA = {
  type: 'object',
  properties: { attempt: { type: 'string' }, operation: { type: 'integer' }, changes: { type: 'array' } },
};

/** Effect of a call on an attempt. */
export interface Effect {
  readonly attempt: string;
  readonly operations: readonly Operation[];
}

/**
 * Builds the result of a call. Only successful calls that can change something have `structuredContent`, and its `text`
 * repeats the text: several hosts show the model nothing else if it is present (claude-code#79944, vscode#290063).
 * @param notes lines to append to the text, which is shortened to leave room for them
 */
export function resultOf(
  result: ToolResult,
  attempt: string,
  notes: readonly string[] = [],
  effect?: Effect,
): CallToolResult {
  const end = notes.map((note) => `\n${note}`).join('');
  const text = cut(cut(result.text, MAX_RESULT_LENGTH - end.length) + end);
  const content: CallToolResult['content'] = [{ type: 'text', text }];
  for (const { type, data } of result.media ?? []) content.push({ type: 'image', data, mimeType: type });
  if (result.isError) return { content, isError: true };
  const links = result.links ?? [];
  for (const path of links.length > MAX_LINKS ? [] : links)
    content.push({ type: 'resource_link', uri: uriOf(attempt, absolute(path)), name: nameInList(path) });
  if (effect === undefined) return { content };
  const operation = effect.operations.at(-1)?.id;
  const changes = changesOf(effect.operations);
  return {
    content,
    structuredContent: { text, attempt, ...(operation === undefined ? {} : { operation }), changes },
  };
}

export function errorResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text: cut(text) }], isError: true };
}

function absolute(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}

function cut(text: string, length = MAX_RESULT_LENGTH): string {
  if (text.length <= length) return text;
  const end = '\n[The rest was cut. Ask for less.]';
  return text.slice(0, Math.max(0, length - end.length)).toWellFormed() + end;
}
