import { deserialize, serialize } from 'node:v8';
import type { Backend, BackendCall, Batch, Check, CommitResult, Facts, Limits, Listing } from '@scratchfs/core';
import { compareNames, joinPath, type NodeFact, StorageError, type Want, type Write } from '@scratchfs/core';
import { Journal } from './journal.js';
import { along, apply, find, type Node, newNode, type Summary, summarize } from './node.js';
import { read } from './sparse.js';

/** Outcomes remembered for clients that ask later. */
const MAX_OUTCOMES = 10_000;

/** A filesystem in memory whose every commit is in a journal on the disk before it is acknowledged. For one process. */
export class JournalBackend implements Backend {
  readonly capabilities = { checkpoints: false, forks: false, sharedWatch: false };
  readonly #journal: Journal;
  readonly #root: Node;
  readonly #outcomes = new Map<string, CommitResult | 'absent'>();
  readonly #summaries = new Map<Node, Summary>();
  #version = 0;
  #isClosed = false;

  /** @throws StorageError `corrupt` for a damaged journal */
  constructor(file: string, clock: () => number = Date.now) {
    this.#journal = new Journal(file);
    const [first, ...batches] = [...this.#journal.read()].map((record) => deserialize(record));
    const now = first ?? clock();
    const meta = { mode: 0o755, uid: 0, gid: 0, atime: now, mtime: now, ctime: now, birthtime: now };
    this.#root = newNode({ id: 'root', kind: 'directory', meta, links: 1 });
    if (first === undefined) this.#journal.append(serialize(now));
    for (const [operationId, writes] of batches as [string, Write[]][]) {
      this.#apply(writes, []);
      this.#remember(operationId, { kind: 'ok', version: this.#version });
    }
  }

  async load(wants: readonly Want[], call?: BackendCall): Promise<readonly Facts[]> {
    this.#enter(call);
    return wants.map((want) => this.#load(want));
  }

  async commit({ operationId, checks, writes, limits }: Batch, call?: BackendCall): Promise<CommitResult> {
    this.#enter(call);
    const known = this.#outcomes.get(operationId);
    if (known === 'absent') throw new StorageError('unavailable', 'The operation was given up before it arrived');
    if (known !== undefined) return known;
    const failed = checks.flatMap((check, at) => (this.#holds(check) ? [] : [at]));
    if (failed.length > 0) return this.#remember(operationId, { kind: 'conflict', checks: failed });
    if (writes.length === 0) return { kind: 'ok', version: this.#version };

    const record = serialize([operationId, writes]);
    const before = this.#summary(this.#root);
    const largest = this.#largest(writes);
    const undo: (() => void)[] = [];
    // What is applied is what will be read: a replay does the same, and nothing of the caller's is kept.
    this.#apply((deserialize(record) as [string, Write[]])[1], undo);
    const limit = this.#overLimit(before, largest, limits);
    if (limit !== undefined) {
      this.#undo(undo);
      return this.#remember(operationId, limit);
    }
    try {
      this.#journal.append(record);
    } catch (cause) {
      // Nobody knows what is on the disk now. The next one who opens the journal will see.
      this.#undo(undo);
      this.#isClosed = true;
      throw new StorageError('unavailable', 'The journal could not be written', { cause });
    }
    return this.#remember(operationId, { kind: 'ok', version: this.#version });
  }

  async outcome(operationId: string): Promise<CommitResult | 'absent'> {
    this.#enter();
    return this.#outcomes.get(operationId) ?? this.#remember(operationId, 'absent');
  }

  async close(): Promise<void> {
    if (!this.#isClosed) this.#journal.close();
    this.#isClosed = true;
  }

  #enter(call?: BackendCall): void {
    call?.signal?.throwIfAborted();
    if (this.#isClosed) throw new StorageError('closed', 'The storage is closed');
  }

  #remember<R extends CommitResult | 'absent'>(operationId: string, result: R): R {
    this.#outcomes.set(operationId, result);
    const [oldest] = this.#outcomes.keys();
    if (this.#outcomes.size > MAX_OUTCOMES && oldest !== undefined) this.#outcomes.delete(oldest);
    return result;
  }

  #apply(writes: readonly Write[], undo: (() => void)[]): void {
    this.#version++;
    this.#summaries.clear();
    for (const write of writes) apply(this.#root, write, this.#version, undo);
  }

  #undo(undo: readonly (() => void)[]): void {
    for (const step of undo.toReversed()) step();
    this.#version--;
    this.#summaries.clear();
  }

  #summary(node: Node): Summary {
    const known = this.#summaries.get(node);
    if (known !== undefined) return known;
    const summary = summarize(node, node === this.#root ? new Set() : undefined);
    this.#summaries.set(node, summary);
    return summary;
  }

  #load(want: Want): Facts {
    if (want.kind === 'path') {
      const found = along(this.#root, want.path);
      const nodes = found.map((node) => (node === undefined ? null : this.#fact(node)));
      const last = found.at(-1);
      if (last?.kind !== 'file' || last.content.size > want.content) return { kind: 'path', nodes };
      return { kind: 'path', nodes, content: read(last.content, 0, want.content) };
    }
    const node = find(this.#root, want.at.path);
    if (node === undefined || node.id !== want.at.id) return { kind: 'gone' };
    const fact = this.#fact(node);
    if (want.kind === 'content') {
      const { offset, length } = want;
      return { kind: 'content', file: fact, offset, bytes: read(node.content, offset, length) };
    }
    if (want.kind === 'tree') return { kind: 'tree', directory: fact, listings: this.#listings(node, want.budget) };
    const { names, nodes } = this.#listing(node, '', want.after);
    const complete = names.length <= want.limit;
    return {
      kind: 'list',
      directory: fact,
      names: names.slice(0, want.limit),
      nodes: nodes.slice(0, want.limit),
      complete,
    };
  }

  #listing(directory: Node, path: string, after?: string): Listing {
    const all = [...directory.names].sort(([a], [b]) => compareNames(a, b));
    const page = after === undefined ? all : all.filter(([name]) => compareNames(name, after) > 0);
    return { path, names: page.map(([name]) => name), nodes: page.map(([, node]) => this.#fact(node)) };
  }

  /** Whole listings, parents first. Contents may come along, and do not here: they are loaded when they are read. */
  #listings(top: Node, budget: number): Listing[] {
    const listings = [this.#listing(top, '')];
    let used = 0;
    for (const { path, names } of listings) {
      used += 120 * names.length;
      if (used > budget) break;
      for (const name of names) {
        const child = find(top, joinPath(path === '' ? '/' : `/${path}`, name)) as Node;
        if (child.kind === 'directory') listings.push(this.#listing(child, path === '' ? name : `${path}/${name}`));
      }
    }
    return listings;
  }

  #fact(node: Node): NodeFact {
    const { id, kind, meta, version, links, target, listing, names } = node;
    const fact = { id, kind, meta, version, links, size: node.content.size, ...(target !== undefined && { target }) };
    if (kind !== 'directory') return fact;
    return { ...fact, directory: { listing, count: names.size, ...this.#summary(node) } };
  }

  #holds(check: Check): boolean {
    const node = find(this.#root, check.path);
    if (node === undefined || node.id !== check.id) return node === undefined && check.id === null;
    if (check.kind === 'empty') return node.names.size === 0;
    if (check.kind === 'listing') return node.listing === check.version;
    if (check.kind === 'tree') return this.#summary(node).tree === check.version;
    return check.version === undefined || node.version === check.version;
  }

  /** The largest file that a batch makes or makes larger. */
  #largest(writes: readonly Write[]): number {
    const sizes = writes.map((write) => {
      if (write.kind === 'create') return write.content?.length ?? 0;
      const before = write.kind === 'write' ? find(this.#root, write.path)?.content.size : undefined;
      return write.kind === 'write' && write.size > (before ?? 0) ? write.size : 0;
    });
    return Math.max(0, ...sizes);
  }

  #overLimit({ totals: before }: Summary, largest: number, limits: Limits): CommitResult | undefined {
    const { totals } = this.#summary(this.#root);
    const cases = [
      ['maxTotalSize', before.size, totals.size],
      ['maxNodeCount', before.files + before.directories, totals.files + totals.directories],
      ['maxFileSize', 0, largest],
    ] as const;
    for (const [limit, used, requested] of cases) {
      const allowed = limits[limit] ?? Number.POSITIVE_INFINITY;
      if (requested > allowed && requested > used) return { kind: 'limit', limit, allowed, used, requested };
    }
    return undefined;
  }
}
