import * as host from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodeFs } from '../node/create-node-fs.js';

export type HostFs = typeof host;

/** Work that is done on node:fs in a folder of the host and on ours; `at` makes a path beneath the root of each. */
export type Work<T> = (fs: HostFs, at: (path: string) => string) => T;

/** What work came to: its value, or what can be seen of its error. Paths are as if the folder were the root. */
export type Result = { readonly value: unknown } | { readonly error: Readonly<Record<string, unknown>> };

/** Both results of the same work, each on a fresh filesystem. What the tests compare with is then no opinion. */
export function onBoth<T>(work: Work<T>): { readonly host: Result; readonly own: Result } {
  const folder = hostFolder();
  try {
    return { host: attempt(folder, work, host), own: attempt('', work, createNodeFs()) };
  } finally {
    host.rmSync(folder, { recursive: true, force: true });
  }
}

/** The same for work that takes its time. */
export async function onBothLater<T>(work: Work<Promise<T>>): Promise<{ readonly host: Result; readonly own: Result }> {
  const folder = hostFolder();
  try {
    return { host: await attemptLater(folder, work, host), own: await attemptLater('', work, createNodeFs()) };
  } finally {
    host.rmSync(folder, { recursive: true, force: true });
  }
}

/** In memory where the host has a place for that, and free of links on the way. */
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

/** Everything of an error that a caller can see but where it was made. */
export function shapeOf(root: string, error: unknown): Record<string, unknown> {
  const { name, message } = error as Error;
  return without(root, { name, message, ...(error as object) }) as Record<string, unknown>;
}

/** A value with the root taken out of all text in it. */
function without(root: string, value: unknown): unknown {
  if (typeof value === 'string') return root === '' ? value : value.replaceAll(`${root}/`, '/').replaceAll(root, '/');
  if (Array.isArray(value)) return value.map((one) => without(root, one));
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, without(root, inner)]));
}
