import { promisify } from 'node:util';
import type { Call, Case, Form, Outcome } from './case.js';
import { seen } from './seen.js';
import type { World } from './world.js';

type Any = (...given: readonly unknown[]) => unknown;

/** Runs a call in one form and returns everything that a test can observe. */
export async function perform(world: World, form: Form, one: Case): Promise<Outcome> {
  const given = one.given.map(({ make }) => make(world));
  const outcome = await FORMS[form](world, one.call, given);
  const result = seen(one.call.name === 'open' ? withoutNumbers(outcome) : outcome, world);
  await release(world, one, outcome);
  return {
    result,
    given: given.map((value) => (ArrayBuffer.isView(value) || Array.isArray(value) ? seen(value, world) : undefined)),
    tree: await treeOf(world),
    code: codeOf(outcome),
  };
}

/** Returns the entries of a world, one per line. */
export async function treeOf(world: World): Promise<unknown> {
  return seen(await world.dump(), world);
}

function codeOf(outcome: object): string | undefined {
  const error = Object.values(outcome)
    .flat()
    .find((value) => value instanceof Error) as NodeJS.ErrnoException | undefined;
  return error && (error.code ?? error.name);
}

/** Hides the numbers of open files, which depend on the other open files. */
function withoutNumbers(outcome: object): object {
  const plain = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(plain) : typeof value === 'number' ? 'a descriptor' : value;
  return Object.fromEntries(Object.entries(outcome).map(([key, value]) => [key, plain(value)]));
}

/** Closes a result that is open. */
async function release({ fs }: World, { call }: Case, outcome: object): Promise<void> {
  for (const value of Object.values(outcome).flat()) {
    if (call.name === 'open' && typeof value === 'number') await promisify(fs.close)(value);
    const name = (value as object | null | undefined)?.constructor?.name;
    if (name === 'FileHandle' || name === 'Dir') await (value as { close(): Promise<void> }).close();
  }
}

function functionOf(target: object, name: string, suffix: string): Any | undefined {
  const [first = '', ...rest] = name.split('.');
  let found: unknown = (target as Record<string, unknown>)[first + suffix];
  for (const part of rest) found = (found as Record<string, unknown> | undefined)?.[part];
  return found as Any | undefined;
}

const ABSENT = { isAbsent: true };

const FORMS: Readonly<Record<Form, (world: World, call: Call, given: unknown[]) => Promise<object>>> = {
  sync: async ({ fs }, { name }, given) => {
    const call = functionOf(fs, name, 'Sync');
    if (call === undefined) return ABSENT;
    try {
      return { returned: call(...given) };
    } catch (error) {
      return { thrown: error };
    }
  },
  callback: ({ fs }, { name }, given) => {
    const call = functionOf(fs, name, '');
    if (call === undefined || name === 'openAsBlob') return Promise.resolve(ABSENT);
    return new Promise((resolve) => {
      let isLater = false;
      try {
        call(...given, (...heard: unknown[]) => {
          // An undefined argument equals an absent one.
          const told = heard.slice(0, heard.findLastIndex((one) => one !== undefined) + 1);
          resolve(isLater ? { told } : { toldAtOnce: told });
        });
        isLater = true;
      } catch (error) {
        resolve({ thrown: error });
      }
    });
  },
  promise: ({ fs }, { name }, given) => settled(functionOf(name === 'openAsBlob' ? fs : fs.promises, name, ''), given),
  handle: async ({ fs, root, fds }, { method = '' }, [fd, ...given]) => {
    const flags = fd === fds.reading ? 'r' : fd === fds.writing ? 'a' : 'r+';
    const handle = await fs.promises.open(`${root}/f`, flags);
    if (fd === fds.closed) await handle.close();
    const outcome = await settled((...all) => (handle as unknown as Record<string, Any>)[method]?.(...all), given);
    await handle.close().catch(() => {});
    return outcome;
  },
  promisified: ({ fs }, { name }, given) => {
    const call = functionOf(fs, name, '');
    return settled(call && (promisify(call as never) as Any), given);
  },
};

async function settled(call: Any | undefined, given: readonly unknown[]): Promise<object> {
  if (call === undefined) return ABSENT;
  let promise: unknown;
  try {
    promise = call(...given);
  } catch (error) {
    return { thrown: error };
  }
  if (!(promise instanceof Promise)) return { returned: promise };
  return promise.then(
    (value: unknown) => ({ resolved: value }),
    (error: unknown) => ({ rejected: error }),
  );
}
