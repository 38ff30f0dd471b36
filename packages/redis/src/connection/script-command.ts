import { Command } from 'ioredis';
import type { Script } from '../lua/scripts.js';

export type Argument = string | number | Buffer;

/** Maximum protocol bytes around an argument: its length in digits and two line ends. */
const ARGUMENT_OVERHEAD_BYTES = 16;
const [CR, LF] = [0x0d, 0x0a];

/** Encoded beginnings of EVALSHA commands, by key list and SHA-1. */
const prefixes = new WeakMap<readonly string[], Map<string, Buffer>>();

/**
 * An EVALSHA command that encodes itself. ioredis writes each argument separately, and binary ones in three pieces.
 * Encoding the constant prefix once saves 5 of the 130 µs of a single write.
 */
export class ScriptCommand extends Command {
  readonly #script: Script;
  readonly #keys: readonly string[];
  readonly #args: readonly Argument[];

  constructor(script: Script, keys: readonly string[], args: readonly Argument[]) {
    super('evalsha', [script.sha], { replyEncoding: null });
    this.#script = script;
    this.#keys = keys;
    this.#args = args;
  }

  /** The keys by which a cluster client chooses the server. */
  override getKeys(): string[] {
    return [...this.#keys];
  }

  override toWritable(): Buffer {
    const args = this.#args.map((one) => (typeof one === 'object' ? one : Buffer.from(String(one))));
    const prefix = prefixOf(this.#script, this.#keys);
    let capacity = ARGUMENT_OVERHEAD_BYTES + prefix.length;
    for (const { length } of args) capacity += ARGUMENT_OVERHEAD_BYTES + length;
    const bytes = Buffer.allocUnsafe(capacity);
    let at = bytes.write(`*${3 + this.#keys.length + args.length}\r\n`, 'latin1');
    at += prefix.copy(bytes, at);
    for (const one of args) {
      at += bytes.write(`$${one.length}\r\n`, at, 'latin1');
      at += one.copy(bytes, at);
      bytes[at++] = CR;
      bytes[at++] = LF;
    }
    return bytes.subarray(0, at);
  }
}

/** Encodes everything from the command name to the last key. */
function prefixOf({ sha }: Script, keys: readonly string[]): Buffer {
  let byScript = prefixes.get(keys);
  if (byScript === undefined) {
    byScript = new Map();
    prefixes.set(keys, byScript);
  }
  let bytes = byScript.get(sha);
  if (bytes === undefined) {
    const parts = ['evalsha', sha, String(keys.length), ...keys];
    bytes = Buffer.from(parts.map((text) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`).join(''));
    byScript.set(sha, bytes);
  }
  return bytes;
}
