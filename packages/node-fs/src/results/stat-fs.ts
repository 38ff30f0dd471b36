/** The answer of `statfs`. */
export class StatFs<N extends number | bigint> {
  constructor(
    readonly type: N,
    /** Bytes of a block. */
    readonly bsize: N,
    readonly blocks: N,
    readonly bfree: N,
    readonly bavail: N,
    /** Names that there may be. */
    readonly files: N,
    readonly ffree: N,
  ) {}
}
