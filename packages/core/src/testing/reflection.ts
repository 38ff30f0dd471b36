/**
 * Collects objects that a program can reach from given ones: values of properties, prototypes, and what methods return,
 * throw or pass to callbacks when they are called with arguments that may be valid.
 */
export class Reflection {
  /** The objects found, each with the number of calls that led to it. */
  readonly found = new Map<object, number>();
  readonly #pending: object[] = [];
  #calls = 0;
  /** How often each method was tried, by its name and text: closures of the same code count as one. */
  readonly #called = new Map<string, number>();
  readonly #avoid: ReadonlySet<object>;

  /** `avoid`: objects that every program can reach, such as the globals of the language. */
  constructor(avoid: Iterable<object> = []) {
    this.#avoid = new Set([...builtIns(), ...avoid]);
  }

  /** All text that was found. */
  readonly texts = new Set<string>();

  add(value: unknown): void {
    if (typeof value === 'string') this.texts.add(value);
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return;
    if (this.found.has(value) || this.#avoid.has(value)) return;
    this.found.set(value, this.#calls);
    this.#pending.push(value);
  }

  /**
   * Visits the objects that can be reached. Calls the methods of those found after fewer than `maxCalls` calls, with
   * each list of arguments. Of methods with the same name and text, only the first {@link MAX_ALIKE} are called.
   */
  async explore(argumentLists: readonly (readonly unknown[])[], maxCalls = 3): Promise<void> {
    for (let at = this.#pending.shift(); at !== undefined; at = this.#pending.shift()) {
      const calls = this.found.get(at) as number;
      this.#calls = calls;
      const methods = this.#look(at);
      this.#calls = calls + 1;
      if (calls < maxCalls) for (const [name, method] of methods) await this.#call(at, name, method, argumentLists);
    }
  }

  #look(owner: object): Map<string | symbol, (...args: unknown[]) => unknown> {
    const methods = new Map<string | symbol, (...args: unknown[]) => unknown>();
    for (let at: object | null = owner; at !== null && !this.#avoid.has(at); at = Object.getPrototypeOf(at)) {
      this.add(at);
      for (const key of Reflect.ownKeys(at)) {
        const value = readOf(owner, at, key);
        this.add(value);
        if (typeof value === 'function' && key !== 'constructor') methods.set(key, value as () => unknown);
      }
    }
    if (Symbol.iterator in owner && (owner instanceof Map || owner instanceof Set || Array.isArray(owner)))
      for (const item of owner) this.add(item);
    return methods;
  }

  async #call(
    owner: object,
    name: string | symbol,
    method: (...args: unknown[]) => unknown,
    argumentLists: readonly (readonly unknown[])[],
  ): Promise<void> {
    const alike = `${String(name)} ${Function.prototype.toString.call(method)}`;
    const called = this.#called.get(alike) ?? 0;
    if (called >= MAX_ALIKE || LAST.has(name)) return;
    this.#called.set(alike, called + 1);
    const listen = (...args: unknown[]): undefined => {
      for (const arg of args) this.add(arg);
    };
    for (const args of argumentLists) {
      try {
        const answer = method.apply(
          owner,
          args.map((arg) => (arg === CALLBACK ? listen : arg)),
        );
        this.add(answer instanceof Promise ? await within(answer) : answer);
      } catch (error) {
        this.add(error);
      }
    }
  }

  /** Tries to overwrite the own properties or bytes of the objects found, except functions and prototypes. */
  vandalize(): void {
    for (const object of this.found.keys()) {
      if (typeof object === 'function' || Object.hasOwn(object, 'constructor')) continue;
      if (object instanceof Uint8Array) {
        object.fill(88);
        continue;
      }
      for (const key of Reflect.ownKeys(object)) {
        const { value } = Reflect.getOwnPropertyDescriptor(object, key) ?? {};
        const junk = typeof value === 'number' ? 88 : typeof value === 'string' ? 'XX' : undefined;
        Reflect.set(object, key, junk);
      }
      if (object instanceof Map || object instanceof Set) object.clear();
    }
  }
}

/** In a list of arguments, stands for a function that collects its own arguments. */
export const CALLBACK = Symbol('callback');

const MAX_ALIKE = 2;

/** Methods that end something, which are not called. */
const LAST: ReadonlySet<string | symbol> = new Set([
  'close',
  'closeSync',
  Symbol.asyncDispose,
  Symbol.dispose,
  'return',
]);

function readOf(owner: object, at: object, key: string | symbol): unknown {
  try {
    const { get, value } = Reflect.getOwnPropertyDescriptor(at, key) as PropertyDescriptor;
    return get === undefined ? value : get.call(owner);
  } catch {
    return undefined;
  }
}

/** Awaits a promise for 5 ms at most, because that of a stream or watcher without events does not settle. */
async function within(answer: Promise<unknown>): Promise<unknown> {
  return Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 5))]);
}

function builtIns(): object[] {
  const globals = Reflect.ownKeys(globalThis).map((key) => readOf(globalThis, globalThis, key));
  const functions = globals.filter((value) => typeof value === 'function') as (() => unknown)[];
  const generators = [(function* () {})(), (async function* () {})(), [][Symbol.iterator](), new Map().keys()].map(
    (iterator) => Object.getPrototypeOf(iterator) as object,
  );
  const chain = generators.flatMap((at) => [at, Object.getPrototypeOf(at) as object]);
  return [globalThis, ...functions, ...functions.map((one) => one.prototype as object), ...chain].filter(
    (value) => typeof value === 'function' || (typeof value === 'object' && value !== null),
  );
}
