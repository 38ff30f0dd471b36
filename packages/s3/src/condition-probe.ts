import { type BackendCall, StorageError } from '@scratchfs/core';

/** Whether the store took the probe under a condition. */
export type PutProbe = (
  condition: { readonly IfNoneMatch?: string; readonly IfMatch?: string },
  call: BackendCall | undefined,
) => Promise<boolean>;

/** What no object has. */
const NONEXISTENT_TAG = '"00000000000000000000000000000000"';

/**
 * Tries, before anything else is done, whether the store really holds to conditions: some take the header and write all the
 * same, and would lose commits without a word.
 */
export class ConditionProbe {
  readonly #put: PutProbe;
  #passed: Promise<void> | undefined;

  constructor(put: PutProbe) {
    this.#put = put;
  }

  /** @throws StorageError `unsupported` where the store overwrites what it should not */
  passed(call: BackendCall | undefined): Promise<void> {
    this.#passed ??= this.#run(call).catch((error: unknown) => {
      this.#passed = undefined;
      throw error;
    });
    return this.#passed;
  }

  async #run(call: BackendCall | undefined): Promise<void> {
    // The first client makes the probe; from then on it is there, and must not be overwritten.
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
