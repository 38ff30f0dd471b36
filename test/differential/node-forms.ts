import { getSystemErrorMap } from 'node:util';
import { asyncForm, type FileSystem, type SyncFileSystem } from '@scratchfs/core';
import { MemoryStorage } from '@scratchfs/memory';
import { createNodeFs } from '@scratchfs/node-fs';
import { differences, dump, Random, type Step, steps } from '@scratchfs/testkit';
import { createFileSystem } from 'scratchfs';
import type { FormsReport } from './forms.js';
import type { Subject } from './fuzz.js';
import { contentOf, NO_NODE_CALL, type NodeCall, nodeCallOf, slotOf } from './node-calls.js';
import { describe, failure, isEqual, type Outcome } from './outcome.js';
import { printSteps } from './print.js';
import { SyncSubject, Ticks } from './subject.js';
import { lexical } from './virtual-path.js';

type Functions = Record<string, (...args: readonly unknown[]) => unknown>;

/** Steps give exact modes. */
const NO_UMASK = { umask: 0 };
const NO_HANDLE: Outcome = { ok: false, code: 'no handle' };

/** Reads an error of the façade. If its paths are short, its message must be what Node would form from its fields. */
function refusal(error: unknown, step: Step): Outcome {
  const outcome = failure(error, step.op === 'symlink', lexical);
  const { message, errno, code, syscall, path, dest } = error as NodeJS.ErrnoException & { dest?: string };
  if (typeof errno !== 'number' || errno > 0 || (path?.length ?? 0) > 200 || (dest?.length ?? 0) > 200) return outcome;
  const reason = getSystemErrorMap().get(errno);
  const place = path === undefined ? '' : ` '${path}'${dest === undefined ? '' : ` -> '${dest}'`}`;
  const expected = `${code}: ${reason?.[1]}, ${syscall}${place}`;
  // Node prints control characters as they are; we escape them.
  const isPlain = !/[^ -~]/.test(expected);
  if (reason?.[0] !== code || (isPlain && message !== expected)) return { ok: false, code: `message ${message}` };
  return outcome;
}

/**
 * Returns the function of a name; of `realpath` its `native` variant, because the other one makes many filesystem calls
 * of its own.
 */
function functionOf(fs: Functions, name: string, suffix: '' | 'Sync'): Functions[string] {
  const found = fs[name + suffix] as Functions[string] & { native?: Functions[string] };
  return found.native ?? found;
}

/** Runs steps through the `…Sync` functions of an object shaped like node:fs. */
export class NodeFsSubject implements Subject {
  readonly isStrict = true;
  readonly #beneath: SyncSubject;
  readonly #fs: Functions;
  readonly #slots = new Map<number, number>();

  constructor(fileSystem: SyncFileSystem, ticks: Ticks) {
    this.#beneath = new SyncSubject(fileSystem, ticks);
    this.#fs = createNodeFs(fileSystem, NO_UMASK) as unknown as Functions;
  }

  run(step: Step): Outcome {
    const slot = slotOf(step);
    const fd = slot === undefined ? undefined : this.#slots.get(slot);
    if (slot !== undefined && fd === undefined) return NO_HANDLE;
    if (step.op === 'open') this.#close(step.args.slot);
    const call = nodeCallOf(step);
    try {
      askForNothing(step, (name, ...args) => this.#fs[`${name}Sync`]?.(fd, ...args));
      const result = functionOf(this.#fs, call.name, 'Sync')(...(fd === undefined ? [] : [fd]), ...call.args);
      if (step.op === 'open') this.#slots.set(step.args.slot, result as number);
      if (step.op === 'close') this.#slots.delete(step.args.slot);
      return { ok: true, value: step.op === 'open' ? undefined : call.toValue(result) };
    } catch (error) {
      return refusal(error, step);
    }
  }

  times(path: string) {
    return this.#beneath.times(path);
  }
  tree() {
    return this.#beneath.tree();
  }
  close(): void {
    for (const slot of [...this.#slots.keys()]) this.#close(slot);
    this.#beneath.close();
  }

  #close(slot: number): void {
    const fd = this.#slots.get(slot);
    if (fd !== undefined) this.#fs['closeSync']?.(fd);
    this.#slots.delete(slot);
  }
}

/**
 * Checks that a file is open for an access by a call with one byte or an empty vector, because Node skips calls for
 * zero bytes.
 */
function askForNothing(step: Step, call: (name: string, ...args: readonly unknown[]) => unknown): unknown {
  if (step.op === 'read' && step.args.length === 0) return call('read', new Uint8Array(1), 0, 1, 0);
  if (step.op === 'handleWriteFile' && contentOf(step.args.data).length === 0)
    return call('writev', [new Uint8Array(0)]);
  return undefined;
}

/** Ways to call the asynchronous functions of an object. */
interface Later {
  readonly name: string;
  open(call: NodeCall): Promise<unknown>;
  path(call: NodeCall): Promise<unknown>;
  descriptor(open: unknown, call: NodeCall): Promise<unknown>;
}

function byPromise(fs: Functions): Later {
  const promises = fs['promises'] as unknown as Functions;
  const path = async (call: NodeCall) => {
    if (call.name === 'exists') return promises['access']?.(...call.args) as Promise<void>;
    return promises[call.name]?.(...call.args);
  };
  return {
    name: 'promise',
    open: path,
    path: async (call) => {
      if (call.name !== 'exists') return path(call);
      return path(call).then(
        () => true,
        () => false,
      );
    },
    descriptor: async (open, { method = '', args }) => {
      const result = await (open as Functions)[method]?.(...args);
      const moved = result as { bytesRead?: number; bytesWritten?: number } | undefined;
      return method === 'read' ? moved?.bytesRead : method === 'write' ? moved?.bytesWritten : result;
    },
  };
}

function byCallback(fs: Functions): Later {
  const call = (name: string, args: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (name === 'exists') fs['exists']?.(...args, resolve);
      else
        functionOf(
          fs,
          name,
          '',
        )(...args, (error: unknown, result: unknown) => (error === null ? resolve(result) : reject(error)));
    });
  return {
    name: 'callback',
    open: ({ name, args }) => call(name, args),
    path: ({ name, args }) => call(name, args),
    descriptor: (fd, { name, args }) => call(name, [fd, ...args]),
  };
}

class LaterSubject {
  readonly #slots = new Map<number, unknown>();
  constructor(readonly form: Later) {}

  async run(step: Step): Promise<Outcome> {
    const slot = slotOf(step);
    const open = slot === undefined ? undefined : this.#slots.get(slot);
    if (slot !== undefined && open === undefined) return NO_HANDLE;
    if (step.op === 'open') await this.#close(step.args.slot);
    const call = nodeCallOf(step);
    try {
      await askForNothing(step, (name, ...args) => this.form.descriptor(open, { ...call, name, method: name, args }));
      const result = await (step.op === 'open'
        ? this.form.open(call)
        : slot === undefined
          ? this.form.path(call)
          : this.form.descriptor(open, call));
      if (step.op === 'open') this.#slots.set(step.args.slot, result);
      if (step.op === 'close') this.#slots.delete(step.args.slot);
      return { ok: true, value: step.op === 'open' ? undefined : call.toValue(result) };
    } catch (error) {
      return refusal(error, step);
    }
  }

  async close(): Promise<void> {
    for (const slot of [...this.#slots.keys()]) await this.#close(slot);
  }

  async #close(slot: number): Promise<void> {
    const open = this.#slots.get(slot);
    if (open !== undefined) await this.form.descriptor(open, nodeCallOf({ op: 'close', args: { slot } }));
    this.#slots.delete(slot);
  }
}

const SEQUENCE = 500;
const DUMP_INTERVAL = 50;

/** Filesystems on which the asynchronous forms are tested. */
export const BENEATH = {
  memory: (clock: () => number) => createFileSystem({ clock }),
  'async engine': (clock: () => number) =>
    createFileSystem({ storage: asyncForm(new MemoryStorage({ clock })), clock }) as Promise<FileSystem>,
} as const;

/** Plays the same steps by …Sync functions, promises and callbacks; all results and errors must be equal. */
export async function compareNodeForms(
  seed: number,
  operations: number,
  beneath: (clock: () => number) => FileSystem | Promise<FileSystem>,
): Promise<FormsReport> {
  const started = performance.now();
  const random = new Random(seed);
  let done = 0;
  let succeeded = 0;
  let difference: string | undefined;
  while (done < operations && difference === undefined) {
    const length = Math.min(SEQUENCE, operations - done);
    const played = [...steps(random.next(), length)].filter(({ op }) => !NO_NODE_CALL.test(op));
    const result = await playForms(played, beneath);
    done += result.operations;
    succeeded += result.succeeded;
    difference = result.difference && `${printSteps(played.slice(0, result.operations))}\n// ${result.difference}`;
  }
  return { seed, operations: done, succeeded, difference, seconds: (performance.now() - started) / 1000 };
}

async function playForms(
  played: readonly Step[],
  beneath: (clock: () => number) => FileSystem | Promise<FileSystem>,
): Promise<{ operations: number; succeeded: number; difference: string | undefined }> {
  const ticks = new Ticks();
  const first = createFileSystem({ clock: ticks.clock });
  const atOnce = new NodeFsSubject(first, ticks);
  const later = await Promise.all(
    [byPromise, byCallback].map(async (form) => {
      const fileSystem = await beneath(ticks.clock);
      const fs = createNodeFs(fileSystem, NO_UMASK) as unknown as Functions;
      return { fileSystem, subject: new LaterSubject(form(fs)) };
    }),
  );
  let operations = 0;
  let succeeded = 0;
  try {
    for (const step of played) {
      ticks.now += 1;
      operations += 1;
      const expected = atOnce.run(step);
      if (expected.ok) succeeded += 1;
      for (const { fileSystem, subject } of later) {
        const actual = await subject.run(step);
        const { name } = subject.form;
        if (!isEqual(expected, actual)) {
          return { operations, succeeded, difference: `${describe(expected)} at once, ${describe(actual)} by ${name}` };
        }
        if (operations % DUMP_INTERVAL !== 0 && operations !== played.length) continue;
        const found = differences(await dump(first), await dump(fileSystem));
        if (found.length > 0) return { operations, succeeded, difference: `${name}: ${found.slice(0, 5).join('\n')}` };
      }
    }
    return { operations, succeeded, difference: undefined };
  } finally {
    atOnce.close();
    for (const { fileSystem, subject } of later) {
      await subject.close();
      await fileSystem.close();
    }
    await first.close();
  }
}
