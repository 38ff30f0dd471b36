import { type Given, isBigint } from '../arguments/options.js';
import { toPath } from '../arguments/paths.js';
import { nodeError } from '../errors/node-error.js';
import { awaited, type FsProcedure } from '../fs-driver.js';
import { type Facade, type NodeFunction, nodeFunction } from '../node-function.js';
import { StatFs } from '../results/stat-fs.js';

interface StatFsCall {
  readonly path: string;
  readonly bigint: boolean;
}

/** Filesystem type of tmpfs. */
const TMPFS_MAGIC = 0x0102_1994;
const BLOCK_BYTES = 4096;
/** Total bytes reported if the filesystem has no limit. */
const UNLIMITED_BYTES = 2 ** 43;
/** Total number of files reported if the filesystem has no limit. */
const UNLIMITED_NODES = 2 ** 32;

/** `statfs`: free space by the limits of the filesystem. */
export const statfs: NodeFunction<StatFsCall, StatFs<number> | StatFs<bigint>> = nodeFunction(
  2,
  (_, path, options = {}) => ({ path: toPath(path), bigint: isBigint(options as Given) }),
  (facade, call) => facade.driver.run(look(facade, call)),
  (error, { path }) => nodeError(error, { syscall: 'statfs', path }),
);

function* look({ driver }: Facade, { path, bigint }: StatFsCall): FsProcedure<StatFs<number> | StatFs<bigint>> {
  yield* awaited(driver.fs.stat(path));
  const { totalSize, nodeCount } = yield* awaited(driver.fs.stats());
  const { maxTotalSize = UNLIMITED_BYTES, maxNodeCount = UNLIMITED_NODES } = driver.limits;
  const blocks = Math.ceil(maxTotalSize / BLOCK_BYTES);
  const free = Math.max(0, Math.floor((maxTotalSize - totalSize) / BLOCK_BYTES));
  const nodesFree = Math.max(0, maxNodeCount - nodeCount);
  const numbers = [TMPFS_MAGIC, BLOCK_BYTES, blocks, free, free, maxNodeCount, nodesFree] as const;
  return bigint ? new StatFs(...(numbers.map(BigInt) as Numbers<bigint>)) : new StatFs<number>(...numbers);
}

type Numbers<N> = [N, N, N, N, N, N, N];
