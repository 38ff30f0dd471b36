/** Options of every promise method. */
export interface CallOptions {
  /**
   * If it aborts before the operation has taken effect, the call rejects with the signal's reason and nothing has
   * changed.
   */
  readonly signal?: AbortSignal | undefined;
}
