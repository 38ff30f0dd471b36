import * as host from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodeFs } from '../node/create-node-fs.js';

export type HostFs = typeof host;

/** Work done with node:fs in a folder of the host and with ours; `at` returns a path under the root of each. */
export type Work<T> = (fs: HostFs, at: (path: string) => string) => T;

/** The outcome of work: its value, or the visible parts of its error. Paths are as if the folder were the root. */
export type Result = { readonly value: unknown } | { readonly error: Readonly<Record<string, unknown>> };

/**
 * Runs the same work in a new folder of the host and on a new filesystem of ours, and returns both results, so that
 * tests compare with the real node:fs.
 */
export function onBoth<T>(work: Work<T>): { readonly host: Result; readonly own: Result } {
  const folder = hostFolder();
  try {
    return { host: attempt(folder, work, host), own: attempt('', work, createNodeFs()) };
  } finally {
    host.rmSync(folder, { recursive: true, force: true });
  }
}

/** Like {@link onBoth}, for asynchronous work. */
export async function onBothLater<T>(work: Work<Promise<T>>): Promise<{ readonly host: Result; readonly own: Result }> {
  const folder = hostFolder();
  try {
    return { host: await attemptLater(folder, work, host), own: await attemptLater('', work, createNodeFs()) };
  } finally {
    host.rmSync(folder, { recursive: true, force: true });
  }
}

/** Creates a folder, in memory if `/dev/shm` exists. */
function hostFolder(): string {
  const parent = host.existsSync('/dev/shm') ? '/dev/shm' : host.realpathSync(tmpdir());
  return host.mkdtempSync(join(parent, 'scratchfs-twin-'));
}

function attempt<T>(root: string, work: Work<T>, fs: HostFs): Result {
  try {
    return {
      value: without(
        root,
        work(fs, (path) => root + path),
      ),
    };
  } catch (error) {
    return { error: shapeOf(root, error) };
  }
}

async function attemptLater<T>(root: string, work: Work<Promise<T>>, fs: HostFs): Promise<Result> {
  try {
    return { value: without(root, await work(fs, (path) => root + path)) };
  } catch (error) {
    return { error: shapeOf(root, error) };
  }
}

/** Returns an error's name, message and enumerable properties. */
export function shapeOf(root: string, error: unknown): Record<string, unknown> {
  const { name, message } = error as Error;
  return without(root, { name, message, ...(error as object) }) as Record<string, unknown>;
}

/** Removes the root from text, also from that in arrays and plain objects. */
function without(root: string, value: unknown): unknown {
  if (typeof value === 'string') return root === '' ? value : value.replaceAll(`${root}/`, '/').replaceAll(root, '/');
  if (Array.isArray(value)) return value.map((one) => without(root, one));
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, without(root, inner)]));
}
