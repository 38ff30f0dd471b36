import type { NodeAddress, NodeRecord } from '../backend.js';
import type { CachedListing } from '../engine/remote/cached-listing.js';
import { NotLoaded } from '../engine/source.js';
import { ViewLoader } from '../engine/view/view-loader.js';
import type { Loader, ViewSource, ViewState } from '../engine/view/view-state.js';
import type { Unloaded } from '../tree/node.js';
import type { LowerLoader } from './lower-loader.js';
import { checkContent, type LowerContent } from './lower-records.js';

/**
 * The source of one operation over an asynchronous filesystem: the loader's records, and contents of its own. Contents
 * loaded for one step are kept for the following steps until a step loads others. So a step that requests many contents
 * and reads them one by one loads each once, and memory is bounded by what one step loads.
 */
export class LowerContents implements ViewSource {
  #contents = new Map<string, LowerContent[]>();
  /** Private, because operations of untrusted code see the source. */
  readonly #loader: LowerLoader;

  constructor(loader: LowerLoader) {
    this.#loader = loader;
  }

  loaderFor(view: ViewState): Loader {
    return new ViewLoader(view, this);
  }

  entry(directory: NodeAddress, name: string): NodeRecord | null | undefined {
    return this.#loader.entry(directory, name);
  }

  listing(directory: NodeAddress): CachedListing | undefined {
    return this.#loader.listing(directory);
  }

  range(file: Unloaded, start: number, length: number): Uint8Array | undefined {
    const known = this.#contents.get(file.address.path);
    const content = known?.find(({ offset, asked }) => start >= offset && start + length <= offset + asked);
    return content && checkContent(file, content).subarray(start - content.offset, start - content.offset + length);
  }

  /** Runs a step. If it misses something, loads that and runs the step again. */
  async run<R>(step: (source: ViewSource) => R, signal: AbortSignal | undefined): Promise<R> {
    const own = new Map<string, LowerContent[]>();
    for (;;) {
      try {
        return step(this);
      } catch (error) {
        if (!(error instanceof NotLoaded)) throw error;
        await this.#loader.load([...error.needs, ...(error.also?.needs ?? [])], signal, (path, content) => {
          this.#contents = own.set(path, [...(own.get(path) ?? []), content]);
        });
        signal?.throwIfAborted();
      }
    }
  }
}
