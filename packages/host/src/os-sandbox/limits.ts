import { checkOptions } from '../check-options.js';

/** Limits of a command. Each has a default. */
export interface OsSandboxLimits {
  /**
   * Bytes of memory, of each process and of all together, including `/tmp` and `/dev/shm`. Checked 20 times a second;
   * memory that the kernel holds for a command elsewhere (memfd, System V segments, pipes) is not counted. Default 1
   * GiB.
   */
  readonly memoryBytes?: number | undefined;
  /** Processes and threads that exist at the same time. Default 256. */
  readonly processes?: number | undefined;
  /** Bytes printed, for standard output and standard error each. Default 1 MiB. */
  readonly outputBytes?: number | undefined;
  /** Bytes of one file that the command writes. Default 64 MiB. */
  readonly fileBytes?: number | undefined;
  /**
   * Bytes that files written by the command may take on the disk at the same time. Checked twice a second, so a fast
   * command may exceed the limit by what it writes in that time. It is also stopped if less than 64 MiB of the disk are
   * free, unless there were less than 128 MiB when it began. Default 1 GiB.
   */
  readonly writtenBytes?: number | undefined;
  /** Bytes of all files copied in for the command. Default 256 MiB. */
  readonly copyInBytes?: number | undefined;
  /** Bytes of all files brought back. Default 64 MiB. */
  readonly copyBackBytes?: number | undefined;
  /** Files, links and directories brought back, including removals. Default 10,000. */
  readonly copyBackFiles?: number | undefined;
}

export type AllLimits = { readonly [K in keyof OsSandboxLimits]-?: number };

const MIB = 2 ** 20;

const DEFAULTS: AllLimits = {
  memoryBytes: 1024 * MIB,
  processes: 256,
  outputBytes: MIB,
  fileBytes: 64 * MIB,
  writtenBytes: 1024 * MIB,
  copyInBytes: 256 * MIB,
  copyBackBytes: 64 * MIB,
  copyBackFiles: 10_000,
};

/**
 * Returns the limits with defaults filled in, also for those that are given as undefined.
 * @param defaults defaults of the caller that differ from those of {@link OsSandboxLimits}
 * @throws TypeError for an unknown limit, RangeError for one that is not a positive whole number
 */
export function allLimits(given: OsSandboxLimits = {}, defaults: Partial<AllLimits> = {}): AllLimits {
  checkOptions(given, Object.keys(DEFAULTS) as (keyof AllLimits)[], 'limits');
  const limits: Record<string, number> = { ...DEFAULTS, ...defaults };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || value <= 0)
      throw new RangeError(`limits.${name} must be a whole number above 0`);
    limits[name] = value;
  }
  return limits as unknown as AllLimits;
}
