/** Result of `statfs`. */
export class StatFs<N extends number | bigint> {
  constructor(
    readonly type: N,
    /** Bytes per block. */
    readonly bsize: N,
    readonly blocks: N,
    readonly bfree: N,
    readonly bavail: N,
    /** Total number of nodes, used and free. */
    readonly files: N,
    readonly ffree: N,
  ) {}
}
