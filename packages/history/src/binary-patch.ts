import { Yielder } from '@scratchfs/core/internal';
import type { ObjectId } from './object-id.js';
import type { Primitives } from './primitives.js';

/** One side of a binary patch. */
export interface PatchSide {
  /** Undefined if the path does not exist on this side. */
  readonly id: ObjectId | undefined;
  readonly content: Uint8Array;
}

/**
 * Formats both contents, compressed and in base 85, as `git diff --binary` does for contents without a short delta.
 * `git apply` accepts the patch in both directions; it needs the line with the ids for that.
 *
 * @param mode the mode if it is the same on both sides
 */
export async function binaryPatch(
  before: PatchSide,
  after: PatchSide,
  mode: string | undefined,
  primitives: Primitives,
  signal?: AbortSignal,
): Promise<string> {
  const none = '0'.repeat((before.id ?? after.id ?? '').length);
  const index = `index ${before.id ?? none}..${after.id ?? none}${mode === undefined ? '' : ` ${mode}`}`;
  let text = `${index}\nGIT binary patch\n`;
  const yielder = new Yielder(signal);
  for (const { content } of [after, before]) {
    const compressed = await primitives.deflate(content);
    text += `literal ${content.length}\n`;
    for (let at = 0; at < compressed.length; at += LINE_BYTES) {
      await yielder.pauseIfDue();
      const line = compressed.subarray(at, at + LINE_BYTES);
      text += `${lengthSign(line.length)}${base85(line)}\n`;
    }
    text += '\n';
  }
  return text;
}

/** Maximum bytes that one line of a binary patch encodes. */
const LINE_BYTES = 52;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';

/** Encodes a length: `A` to `Z` for 1 to 26, `a` to `z` for 27 to 52. */
function lengthSign(length: number): string {
  return String.fromCharCode(length <= 26 ? 64 + length : 70 + length);
}

/** Encodes bytes in git's base 85: five digits for every four bytes, the last four padded with zeros. */
function base85(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    let value = 0;
    for (let i = at; i < at + 4; i++) value = value * 256 + (bytes[i] ?? 0);
    let digits = '';
    for (let i = 0; i < 5; i++) {
      digits = DIGITS.charAt(value % 85) + digits;
      value = Math.floor(value / 85);
    }
    text += digits;
  }
  return text;
}
