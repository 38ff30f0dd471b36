import { MAX_NAME_BYTES } from '@scratchfs/core';
import { isDotGit } from './objects/entry-name.js';

/**
 * Returns the new path of an entry that must make room: `path~label`, as in git, but within the length limit of names
 * and never a name that counts as `.git`.
 * @param mark the end of the name, which is never cut
 */
export function nameAside(path: string, label: string, mark: string): string {
  const at = path.lastIndexOf('/') + 1;
  const room = MAX_NAME_BYTES - mark.length;
  const first = `${cut(path.slice(at), room - 1)}~`;
  const behind = label.replace(/[/\\]/g, '_');
  const name = cut(first + behind, room) + mark;
  return path.slice(0, at) + (isDotGit(name) ? cut(`${first}_${behind}`, room) + mark : name);
}

/** Returns the longest beginning of a text that fits into a number of UTF-8 bytes. */
function cut(text: string, bytes: number): string {
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(bytes)).read);
}

const encoder = new TextEncoder();
