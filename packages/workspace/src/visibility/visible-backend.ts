import {
  type Backend,
  type BackendCall,
  type Batch,
  type CommitResult,
  FsError,
  type Listing,
  type LoadRequest,
  type LoadResult,
  pathSegments,
  type Write,
} from '@scratchfs/core';
import type { HiddenPaths } from './hidden-paths.js';

type ListRequest = Extract<LoadRequest, { kind: 'list' }>;

/** Finds the paths that cannot be changed because they lie in a directory that git ignores. */
export interface ReadOnlyPaths {
  /**
   * Returns the ignored directory that a path lies in or is; undefined if the path can be changed.
   * @param isDirectory reports whether the path itself is a directory; called only if that matters
   */
  ignoredOn(path: string, isDirectory: () => Promise<boolean>): Promise<string | undefined>;
}

/**
 * A backend without its hidden paths: they are missing in everything that is loaded, and cannot be written. An attempt
 * has two, one between it and the disk and one in front of it. So a secret that is hidden by its path stays hidden in a
 * directory that was moved.
 */
export class VisibleBackend implements Backend {
  readonly #backend: Backend;
  readonly #hidden: HiddenPaths;
  readonly #readOnly: ReadOnlyPaths | undefined;

  constructor(backend: Backend, hidden: HiddenPaths, readOnly?: ReadOnlyPaths) {
    this.#backend = backend;
    this.#hidden = hidden;
    this.#readOnly = readOnly;
  }

  get capabilities(): Backend['capabilities'] {
    const { checkpoints: _, forks: __, sharedWatch: ___, ...rest } = this.#backend.capabilities;
    return { ...rest, checkpoints: false, forks: false, sharedWatch: false };
  }

  async load(requests: readonly LoadRequest[], call?: BackendCall): Promise<readonly LoadResult[]> {
    const results = [...(await this.#backend.load(requests, call))];
    for (const [i, request] of requests.entries())
      results[i] = await this.#shown(request, results[i] as LoadResult, call);
    return results;
  }

  async commit(batch: Batch, call?: BackendCall): Promise<CommitResult> {
    for (const write of batch.writes) await this.#check(write, call);
    return this.#backend.commit(batch, call);
  }

  outcome(operationId: string, call?: BackendCall): ReturnType<Backend['outcome']> {
    return this.#backend.outcome(operationId, call);
  }

  close(): Promise<void> {
    return this.#backend.close();
  }

  async #shown(request: LoadRequest, result: LoadResult, call: BackendCall | undefined): Promise<LoadResult> {
    const names = pathSegments(request.kind === 'path' ? request.path : request.at.path);
    const depth = this.#hidden.hiddenDepth(names);
    if (result.kind === 'path') {
      if (depth === undefined || result.nodes.length <= depth) return result;
      return { kind: 'path', nodes: [...result.nodes.slice(0, depth), null] };
    }
    if (depth !== undefined) return { kind: 'gone' };
    if (result.kind === 'list') return this.#shownList(request as ListRequest, names, result, call);
    return result.kind === 'tree' ? { ...result, listings: this.#shownListings(names, result.listings) } : result;
  }

  async #shownList(
    request: ListRequest,
    names: readonly string[],
    result: Extract<LoadResult, { kind: 'list' }>,
    call: BackendCall | undefined,
  ): Promise<LoadResult> {
    const shown = this.#shownNames(names, result.names);
    if (shown === undefined) return result;
    const last = result.names.at(-1);
    // A page without names that is not the last one would look like the end.
    if (shown.length === 0 && !result.complete && last !== undefined) {
      const [next] = await this.load([{ ...request, after: last }], call);
      return next as LoadResult;
    }
    return { ...result, names: pick(result.names, shown), nodes: pick(result.nodes, shown) };
  }

  #shownListings(top: readonly string[], listings: readonly Listing[]): Listing[] {
    const result: Listing[] = [];
    for (const listing of listings) {
      const names = [...top, ...pathSegments(`/${listing.path}`)];
      if (this.#hidden.hiddenDepth(names) !== undefined) continue;
      const shown = this.#shownNames(names, listing.names);
      if (shown === undefined) result.push(listing);
      else
        result.push({
          path: listing.path,
          names: pick(listing.names, shown),
          nodes: pick(listing.nodes, shown),
          ...(listing.contents && { contents: pick(listing.contents, shown) }),
        });
    }
    return result;
  }

  /** Returns the positions of the shown names; undefined if all are. */
  #shownNames(directory: readonly string[], names: readonly string[]): number[] | undefined {
    const path = [...directory, ''];
    const shown: number[] = [];
    for (const [i, name] of names.entries()) {
      path[directory.length] = name;
      if (!this.#hidden.hidesLast(path)) shown.push(i);
    }
    return shown.length === names.length ? undefined : shown;
  }

  async #check(write: Write, call: BackendCall | undefined): Promise<void> {
    if (write.kind === 'touch' || write.kind === 'clear') return;
    const to = write.kind === 'move' || write.kind === 'copy' ? write.to : write.path;
    if (this.#hidden.hides(to)) {
      throw new FsError('EACCES', {
        path: to,
        hint: 'Such names are hidden in a workspace, because they hold secrets or belong to git: use another name, or let the person who opened it allow this one (allowSecrets)',
      });
    }
    const kind = write.kind === 'create' ? write.type : undefined;
    const source = write.kind === 'move' || write.kind === 'copy' ? write.from : to;
    const isDirectory = async (): Promise<boolean> =>
      kind === undefined ? this.#isDirectory(source, call) : kind === 'directory';
    const changed = write.kind === 'move' ? [write.from, to] : [to];
    for (const path of changed) {
      const ignored = await this.#readOnly?.ignoredOn(path, isDirectory);
      if (ignored === undefined) continue;
      throw new FsError('EROFS', {
        path,
        hint: 'It is in a directory that git ignores, which a workspace can read but not change: write elsewhere, or let a command of the attempt make it',
      });
    }
  }

  async #isDirectory(path: string, call: BackendCall | undefined): Promise<boolean> {
    const [result] = await this.#backend.load([{ kind: 'path', path, content: 0 }], call);
    return result?.kind === 'path' && result.nodes.at(-1)?.kind === 'directory';
  }
}

function pick<T>(list: readonly T[], positions: readonly number[]): T[] {
  return positions.map((at) => list[at] as T);
}
