import type { Metadata } from '../backend.js';
import { compareNames } from '../paths.js';
import type { ContentWriter, DecodedEntry, SourceEntry } from '../snapshot/snapshot-entry.js';

/** Test data: a tree in memory and the entries of its snapshots. */
export interface SampleNode {
  readonly meta: Metadata;
  readonly content?: Uint8Array;
  readonly target?: string;
  readonly children?: Readonly<Record<string, SampleNode>> | ReadonlyMap<string, SampleNode>;
}

export const META: Metadata = { mode: 0o644, uid: 0, gid: 0, atime: 1, mtime: 1, ctime: 1, birthtime: 1 };

export function file(content: string | Uint8Array, meta: Partial<Metadata> = {}): SampleNode {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return { meta: { ...META, ...meta }, content: bytes };
}

export function directory(
  children: Record<string, SampleNode> | Map<string, SampleNode>,
  meta: Partial<Metadata> = {},
): SampleNode {
  return { meta: { ...META, mode: 0o755, ...meta }, children };
}

export function symlink(target: string, meta: Partial<Metadata> = {}): SampleNode {
  return { meta: { ...META, mode: 0o777, ...meta }, target };
}

/** Returns the entries in the order of a snapshot; a node that occurs twice is one file with two names. */
export function entriesOf(root: SampleNode): SourceEntry[] {
  const entries: SourceEntry[] = [];
  const numbers = new Map<SampleNode, number>();
  const visit = (node: SampleNode, name: string, depth: number): void => {
    const first = numbers.get(node);
    if (first !== undefined) {
      entries.push({ kind: 'link', depth, name, first });
      return;
    }
    const { meta, content, target, children } = node;
    if (children !== undefined) {
      entries.push({ kind: 'directory', depth, name, meta, size: 0, body: undefined });
      const pairs = children instanceof Map ? [...children] : Object.entries(children);
      for (const [child, childNode] of pairs.sort(([a], [b]) => compareNames(a, b))) {
        visit(childNode, child, depth + 1);
      }
      return;
    }
    numbers.set(node, entries.length);
    if (target !== undefined) entries.push({ kind: 'symlink', depth, name, meta, size: 0, target, body: undefined });
    else entries.push(fileEntry(depth, name, meta, content as Uint8Array));
  };
  visit(root, '', 0);
  return entries;
}

function fileEntry(depth: number, name: string, meta: Metadata, content: Uint8Array): SourceEntry {
  return { kind: 'file', depth, name, meta, size: content.length, body: bodyOf(content) };
}

/** Converts decoded entries to the input of the encoder. */
export function sourceOf(entry: DecodedEntry): SourceEntry {
  return entry.kind === 'link' ? entry : { ...entry, body: bodyOf(entry.body) };
}

/** Returns the comparable parts of an entry, contents included. */
export function plain(entry: SourceEntry | DecodedEntry): unknown {
  if (entry.kind === 'link') return { ...entry };
  const { kind, depth, name, meta, size, target, body } = entry;
  let content = new Uint8Array(size);
  if (typeof body === 'function') body(content, 0);
  else if (body !== undefined) content = body.slice();
  return { kind, depth, name, meta: { ...meta }, size, target, content: [...content] };
}

function bodyOf(content: Uint8Array): ContentWriter {
  return (into, from) => into.set(content.subarray(from, from + into.length));
}
