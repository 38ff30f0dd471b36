/** What a command may use. All have a default. */
export interface OsSandboxLimits {
  /**
   * Bytes of memory, of each process and of all together, with what lies in `/tmp` and `/dev/shm`. Looked at 20 times a second;
   * what the kernel keeps for a command elsewhere (memfd, System V segments, pipes) is not counted. Default 1 GiB.
   */
  readonly memoryBytes?: number | undefined;
  /** Processes and threads at a time. Default 256. */
  readonly processes?: number | undefined;
  /** Bytes printed, standard output and errors each. Default 1 MiB. */
  readonly outputBytes?: number | undefined;
  /** Bytes of one file that the command writes. Default 64 MiB. */
  readonly fileBytes?: number | undefined;
  /** Bytes that the command may see. Default 256 MiB. */
  readonly copyInBytes?: number | undefined;
  /** Bytes of all files that come back. Default 64 MiB. */
  readonly copyBackBytes?: number | undefined;
  /** Files, links and directories that come back, removals included. Default 10,000. */
  readonly copyBackFiles?: number | undefined;
}

export type AllLimits = { readonly [K in keyof OsSandboxLimits]-?: number };

const MIB = 2 ** 20;

const DEFAULTS: AllLimits = {
  memoryBytes: 1024 * MIB,
  processes: 256,
  outputBytes: MIB,
  fileBytes: 64 * MIB,
  copyInBytes: 256 * MIB,
  copyBackBytes: 64 * MIB,
  copyBackFiles: 10_000,
};

/** @throws TypeError for a limit that there is not; RangeError for one that is no whole number above 0 */
export function allLimits(given: OsSandboxLimits = {}): AllLimits {
  const limits: Record<string, number> = { ...DEFAULTS };
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(DEFAULTS, name)) throw new TypeError(`There is no limit ${name}`);
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value <= 0)
      throw new RangeError(`limits.${name} must be a whole number above 0`);
    limits[name] = value;
  }
  return limits as unknown as AllLimits;
}
