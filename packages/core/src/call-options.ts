/** Options of promise methods. */
export interface CallOptions {
  /**
   * If it aborts before the operation has taken effect, the call rejects with the signal's reason. If the storage
   * cannot tell whether it has, the call rejects with an `OutcomeUnknownError`.
   */
  readonly signal?: AbortSignal | undefined;
}
