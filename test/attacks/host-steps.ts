import { constants } from 'node:fs';
import promises, { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { devNull } from 'node:os';

/** One call that changes something on the host. */
export interface Step {
  readonly index: number;
  readonly name: string;
  /** Performs the step. */
  readonly run: () => Promise<unknown>;
  /** Performs the first half of a write. Undefined for other steps. */
  readonly half: (() => Promise<unknown>) | undefined;
}

type Call = (...args: unknown[]) => Promise<unknown>;
type Calls = Record<string, Call>;

const NAMES = [
  'chmod',
  'chown',
  'copyFile',
  'lchown',
  'link',
  'lutimes',
  'mkdir',
  'mkdtemp',
  'open',
  'rename',
  'rmdir',
  'symlink',
  'unlink',
  'utimes',
];
const HANDLE_NAMES = ['chmod', 'chown', 'datasync', 'truncate', 'write'];

/**
 * Passes the calls of `node:fs/promises` that change something to a function, which may or may not run them. Applies to
 * all modules of this process that have imported `node:fs/promises`.
 * @returns a function that restores the originals
 */
export async function interceptSteps(onStep: (step: Step) => Promise<unknown>): Promise<() => void> {
  let index = 0;
  const undo: (() => void)[] = [];
  const wrap = (target: Calls, name: string, isChange: (args: readonly unknown[]) => boolean): void => {
    const real = target[name] as Call;
    target[name] = function (this: unknown, ...args) {
      if (!isChange(args)) return real.apply(this, args);
      const half = name === 'write' ? () => real.apply(this, halved(args)) : undefined;
      return onStep({ index: index++, name, run: () => real.apply(this, args), half });
    };
    undo.push(() => {
      target[name] = real;
    });
  };
  for (const name of NAMES) wrap(promises as unknown as Calls, name, (args) => name !== 'open' || isToWrite(args[1]));
  const handle = await open(devNull, 'r');
  const handles = Object.getPrototypeOf(handle) as Calls;
  await handle.close();
  for (const name of HANDLE_NAMES) wrap(handles, name, () => true);
  syncBuiltinESMExports();
  return () => {
    for (const take of undo) take();
    syncBuiltinESMExports();
  };
}

function isToWrite(flags: unknown): boolean {
  if (typeof flags === 'number') return (flags & (constants.O_WRONLY | constants.O_RDWR | constants.O_CREAT)) !== 0;
  return typeof flags === 'string' && flags !== 'r';
}

/** Returns the arguments of write(buffer, offset, length, position) with half the length. */
function halved([buffer, offset, length, position]: readonly unknown[]): unknown[] {
  return [buffer, offset, Math.floor(Number(length) / 2), position];
}
