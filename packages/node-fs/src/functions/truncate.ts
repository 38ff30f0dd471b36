import { toPath } from '../arguments/paths.js';
import { checkLength, checkNativeFd } from '../arguments/values.js';
import { awaited, type Eventual, type FsProcedure } from '../fs-driver.js';
import { type Facade, type NodeFunction, nodeFunction } from '../node-function.js';

interface OfDescriptor {
  readonly fd: number;
  readonly length: number;
}

interface OfPath {
  readonly path: string;
  readonly length: unknown;
}

/** `truncate` with a callback: checks the length before the path. */
export const truncate: NodeFunction<OfDescriptor | OfPath> = nodeFunction(
  2,
  (_, path, given = 0) => {
    const length = checkLength(given);
    return typeof path === 'number' ? { fd: checkNativeFd(path), length } : { path: toPath(path), length };
  },
  truncateEither,
);

/**
 * For a path, the synchronous and promise forms open the file before they refuse an invalid length; the callback form
 * checks the length first.
 */
export const truncateSync: NodeFunction<OfDescriptor | OfPath> = nodeFunction(
  2,
  (facade, path, length = 0) =>
    typeof path === 'number'
      ? (truncate.prepare(facade, path, length) as OfDescriptor)
      : { path: toPath(path), length },
  truncateEither,
);

/** The promise form takes no descriptors. */
export const truncateLater: NodeFunction<OfPath> = nodeFunction(
  2,
  (_, path, length = 0) => ({ path: toPath(path), length }),
  truncatePath,
);

/** A number is a descriptor (deprecated in Node). */
function truncateEither(facade: Facade, call: OfDescriptor | OfPath): Eventual<void> {
  return 'fd' in call ? facade.descriptors.get(call.fd, 'ftruncate').truncate(call.length) : truncatePath(facade, call);
}

function truncatePath({ driver }: Facade, { path, length }: OfPath): Eventual<void> {
  return Number.isSafeInteger(length)
    ? driver.fs.truncate(path, Math.max(0, length as number))
    : driver.run(refuseOpened());

  function* refuseOpened(): FsProcedure<void> {
    const file = yield* awaited(driver.open(path, 'r+'));
    yield* awaited(file.close());
    checkLength(length);
  }
}
