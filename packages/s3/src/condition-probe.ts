import { type BackendCall, StorageError } from '@scratchfs/core';

/** Puts the probe object under a condition. Resolves to true if the store wrote it, false if it refused. */
export type PutProbe = (
  condition: { readonly IfNoneMatch?: string; readonly IfMatch?: string },
  call: BackendCall | undefined,
) => Promise<boolean>;

/** A tag that no object of the store has. */
const NONEXISTENT_TAG = '"00000000000000000000000000000000"';

/**
 * Tests whether the store honours conditional writes. Some stores ignore the header and write, which would lose commits
 * silently.
 */
export class ConditionProbe {
  readonly #put: PutProbe;
  #passed: Promise<void> | undefined;

  constructor(put: PutProbe) {
    this.#put = put;
  }

  /**
   * Runs the test, unless it has passed before. @throws StorageError, such as `unsupported` if the store ignores a
   * condition
   */
  passed(call: BackendCall | undefined): Promise<void> {
    this.#passed ??= this.#run(call).catch((error: unknown) => {
      this.#passed = undefined;
      throw error;
    });
    return this.#passed;
  }

  async #run(call: BackendCall | undefined): Promise<void> {
    // The first client creates the probe; from then on it exists, and must not be overwritten.
    const isNew = await this.#put({ IfNoneMatch: '*' }, call);
    const [again, wrong] = await Promise.all([
      isNew ? this.#put({ IfNoneMatch: '*' }, call) : false,
      this.#put({ IfMatch: NONEXISTENT_TAG }, call),
    ]);
    if (!again && !wrong) return;
    throw new StorageError(
      'unsupported',
      `The store does not hold to conditional writes (${again ? 'If-None-Match' : 'If-Match'} is ignored): commits of two writers would be lost. With { singleWriter: true } it can be used by one process only`,
    );
  }
}
