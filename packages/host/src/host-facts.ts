import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { readdir } from 'node:fs/promises';
import {
  checkName,
  compareNames,
  type Facts,
  isFsError,
  type Listing,
  type NodeFact,
  type NodeId,
  UNKNOWN_VERSION,
  type Want,
} from '@scratchfs/core';
import { Anchor } from './anchor.js';
import { type ConfinedRoot, TEMPORARY } from './confined-root.js';
import { isCode } from './host-error.js';
import type { NodeIds } from './node-ids.js';

const NOTHING = { size: 0, files: 0, directories: 0, linked: 0 };

/** What lies beneath the root, as the engine asks for it. */
export class HostFacts {
  constructor(
    readonly root: ConfinedRoot,
    readonly ids: NodeIds,
  ) {}

  async load(want: Want, signal?: AbortSignal): Promise<Facts> {
    signal?.throwIfAborted();
    if (want.kind === 'path') return this.#path(want.path, want.content);
    await using trail = await this.root.walk(want.at.path);
    const anchor = trail.anchors.at(-1) as Anchor;
    if (!trail.complete || this.ids.of(anchor.stat) !== want.at.id) return { kind: 'gone' };
    const depth = trail.anchors.length - 1;
    if (want.kind === 'content') {
      if (anchor.kind !== 'file') return { kind: 'gone' };
      const bytes = await readRange(anchor, want.offset, want.length);
      return { kind: 'content', file: this.fact(anchor.stat), offset: want.offset, bytes };
    }
    if (anchor.kind !== 'directory') return { kind: 'gone' };
    if (want.kind === 'tree') return await this.#tree(anchor, depth, want.budget, signal);
    const { names, nodes } = await this.#listing(anchor, depth, signal);
    const from = want.after === undefined ? 0 : names.findIndex((name) => compareNames(name, want.after as string) > 0);
    const start = from < 0 ? names.length : from;
    const end = Math.min(names.length, start + want.limit);
    return {
      kind: 'list',
      directory: this.fact(anchor.stat),
      names: names.slice(start, end),
      nodes: nodes.slice(start, end),
      complete: end === names.length,
    };
  }

  /** Whether a directory holds something, but nothing that is shown. */
  async hidesAll(path: string): Promise<boolean> {
    await using trail = await this.root.walk(path);
    const anchor = trail.anchors.at(-1) as Anchor;
    if (!trail.complete || anchor.kind !== 'directory') return false;
    if ((await readdir(anchor.path)).length === 0) return false;
    return (await this.#listing(anchor, trail.anchors.length - 1)).names.length === 0;
  }

  fact(stat: BigIntStats, link?: { readonly target: string; readonly outside: boolean }): NodeFact {
    const kind = stat.isDirectory() ? 'directory' : link === undefined ? 'file' : 'symlink';
    const meta = {
      mode: Number(stat.mode) & 0o7777,
      uid: Number(stat.uid),
      gid: Number(stat.gid),
      atime: Number(stat.atimeMs),
      mtime: Number(stat.mtimeMs),
      ctime: Number(stat.ctimeMs),
      birthtime: Number(stat.birthtimeMs),
    };
    const base = { id: this.ids.of(stat), kind, meta, version: versionOf(stat), links: 1 } as const;
    if (kind === 'directory') {
      // A disk does not count what lies beneath a directory, nor say when something there has changed.
      const listing = versionOf(stat);
      const directory = { listing, tree: UNKNOWN_VERSION, count: 0, totals: NOTHING, counted: false };
      return { ...base, size: 0, directory };
    }
    const size = kind === 'symlink' ? Buffer.byteLength(link?.target ?? '') : Number(stat.size);
    return { ...base, links: Number(stat.nlink), size, ...link };
  }

  async #path(path: string, content: number): Promise<Facts> {
    await using trail = await this.root.walk(path);
    const nodes: (NodeFact | null)[] = [];
    for (const [depth, anchor] of trail.anchors.entries()) {
      const parent = trail.anchors[depth - 1];
      const fact = await this.#factOf(anchor, parent, nameAt(path, depth), depth - 1);
      if (fact === undefined) return { kind: 'path', nodes: [...nodes, null] };
      nodes.push(fact);
    }
    const last = trail.anchors.at(-1) as Anchor;
    if (!trail.complete) return { kind: 'path', nodes: last.kind === 'directory' ? [...nodes, null] : nodes };
    if (last.kind !== 'file' || Number(last.stat.size) > content) return { kind: 'path', nodes };
    const bytes = await readRange(last, 0, Number(last.stat.size));
    // What grew or shrank meanwhile is loaded again when it is read.
    return bytes.length === Number(last.stat.size) ? { kind: 'path', nodes, content: bytes } : { kind: 'path', nodes };
  }

  /** Undefined for what is no file, directory or link: sockets, pipes and devices are not there. */
  async #factOf(
    anchor: Anchor,
    parent: Anchor | undefined,
    name: string,
    depth: number,
  ): Promise<NodeFact | undefined> {
    if (anchor.kind === 'special') return undefined;
    if (anchor.kind !== 'symlink' || parent === undefined) return this.fact(anchor.stat);
    try {
      return this.fact(anchor.stat, await this.root.targetOf(parent, name, depth));
    } catch (error) {
      if (isCode(error, 'ENOENT', 'EINVAL')) return undefined;
      throw error;
    }
  }

  async #listing(
    directory: Anchor,
    depth: number,
    signal?: AbortSignal,
  ): Promise<{ names: string[]; nodes: NodeFact[] }> {
    const names: string[] = [];
    const nodes: NodeFact[] = [];
    const found = (await readdir(directory.path)).filter(isNameOfOurs).sort(compareNames);
    for (const name of found) {
      signal?.throwIfAborted();
      const fact = await this.#child(directory, name, depth);
      if (fact === undefined) continue;
      names.push(name);
      nodes.push(fact);
    }
    return { names, nodes };
  }

  async #child(directory: Anchor, name: string, depth: number): Promise<NodeFact | undefined> {
    await using anchor = await directory.enter(name);
    // Awaited here: the anchor is closed when this returns.
    return anchor && (await this.#factOf(anchor, directory, name, depth));
  }

  async #tree(top: Anchor, depth: number, budget: number, signal?: AbortSignal): Promise<Facts> {
    const listings: Listing[] = [];
    const pending: { path: string; anchor: Anchor; depth: number }[] = [{ path: '', anchor: top, depth }];
    let used = 0;
    try {
      for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
        try {
          if (used >= budget && listings.length > 0) continue;
          const { names, nodes } = await this.#listing(next.anchor, next.depth, signal);
          listings.push({ path: next.path, names, nodes });
          used += names.length * 160;
          for (const [i, fact] of nodes.entries()) {
            const name = names[i] as string;
            if (fact.kind !== 'directory' || pending.length >= MAX_HELD) continue;
            const anchor = await openChild(next.anchor, name, fact.id, this.ids);
            if (anchor !== undefined)
              pending.push({ path: next.path === '' ? name : `${next.path}/${name}`, anchor, depth: next.depth + 1 });
          }
        } finally {
          if (next.anchor !== top) await next.anchor.close();
        }
      }
    } finally {
      for (const { anchor } of pending) if (anchor !== top) await anchor.close();
    }
    return { kind: 'tree', directory: this.fact(top.stat), listings };
  }
}

/** Descriptors held for directories that are to be listed next. */
const MAX_HELD = 64;

async function openChild(parent: Anchor, name: string, id: NodeId, ids: NodeIds): Promise<Anchor | undefined> {
  try {
    const anchor = await Anchor.at(parent.child(name));
    if (anchor.kind === 'directory' && ids.of(anchor.stat) === id) return anchor;
    await anchor.close();
    return undefined;
  } catch (error) {
    if (isCode(error, 'ENOENT', 'EACCES')) return undefined;
    throw error;
  }
}

function nameAt(path: string, depth: number): string {
  return depth === 0 ? '' : (path.split('/')[depth] as string);
}

/** Names that a filesystem cannot hold (not UTF-8, with a backslash) are not there. */
function isNameOfOurs(name: string): boolean {
  if (name.includes('\ufffd')) return false;
  try {
    checkName(name);
    return !name.startsWith(TEMPORARY);
  } catch (error) {
    if (isFsError(error)) return false;
    throw error;
  }
}

/** Changes with content, metadata and names. */
export function versionOf(stat: BigIntStats): string {
  const { size, mtimeNs, ctimeNs, nlink, mode } = stat;
  return stat.isDirectory() ? `${mtimeNs}:${ctimeNs}` : `${size}:${mtimeNs}:${ctimeNs}:${nlink}:${mode}`;
}

async function readRange(anchor: Anchor, offset: number, length: number): Promise<Uint8Array> {
  if (length === 0) return new Uint8Array();
  const handle = await openToRead(anchor);
  try {
    const bytes = new Uint8Array(length);
    let done = 0;
    while (done < length) {
      const { bytesRead } = await handle.read(bytes, done, length - done, offset + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return bytes.subarray(0, done);
  } finally {
    await handle.close();
  }
}

/** Reading leaves no trace where the host allows that. */
async function openToRead(anchor: Anchor): ReturnType<Anchor['open']> {
  try {
    return await anchor.open(constants.O_RDONLY | (constants.O_NOATIME ?? 0));
  } catch (error) {
    if (!isCode(error, 'EPERM')) throw error;
    return anchor.open(constants.O_RDONLY);
  }
}
