import type { Stats } from '../../entry.js';
import { isFsError } from '../../errors.js';
import type { FileHandle, SyncFileHandle } from '../../file-handle.js';
import type { Call, Simple } from '../intercept.js';
import { capturedArguments } from '../observed-versions.js';
import { withPaths } from '../with-paths.js';
import type { GuardChain } from './guard-chain.js';

/** An open file of any filesystem. All methods but `close` ask the guards about the path at which it was opened. */
export class GuardedHandle implements Simple {
  readonly #guards: GuardChain;
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly #given: string;

  constructor(guards: GuardChain, handle: FileHandle, path: string, given: string) {
    this.#guards = guards;
    this.#handle = handle;
    this.#path = path;
    this.#given = given;
  }

  async promise(call: Call, next: (args?: readonly unknown[]) => Promise<unknown>): Promise<unknown> {
    // The call begins after the lookup, so the content to write is captured before.
    const args = call.on === 'handle' && call.spec.access === 'write' ? capturedArguments(call) : undefined;
    try {
      if (isAsked(call)) this.#ask(call, await this.#handle.stat());
      return await next(args);
    } catch (error) {
      throw this.#named(error, call);
    }
  }

  sync(call: Call, next: () => unknown): unknown {
    try {
      if (isAsked(call)) this.#ask(call, (this.#handle as SyncFileHandle).statSync());
      return next();
    } catch (error) {
      throw this.#named(error, call);
    }
  }

  #ask(call: Call, { kind, size }: Stats): void {
    const { access } = call.spec as { access: 'look' | 'read' | 'write' };
    this.#guards.ask({
      path: this.#path,
      access,
      kind,
      size: kind === 'file' ? size : undefined,
      syscall: call.name,
      given: this.#given,
    });
  }

  #named(error: unknown, { args }: Call): unknown {
    const shown = this.#guards.shown(error, [this.#given, ...args]);
    return isFsError(shown) && shown.path === this.#path && this.#path !== this.#given
      ? withPaths(shown, this.#given, shown.dest)
      : shown;
  }
}

function isAsked(call: Call): boolean {
  return call.on === 'handle' && call.spec.access !== 'nothing';
}
