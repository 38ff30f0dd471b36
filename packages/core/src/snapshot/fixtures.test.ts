import { describe, expect, it } from 'vitest';
import { entriesOf, plain } from '../testing/sample-tree.js';
import { decodeSnapshot } from './decode.js';
import { encodeSnapshot } from './encode.js';
import { fixtureTree } from './fixtures/tree.js';
import { V1 } from './fixtures/v1.js';
import { V2 } from './fixtures/v2.js';

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64.replaceAll('\n', '')), (character) => character.charCodeAt(0));
}

describe('stored snapshots', () => {
  it('of version 1 are decoded to the entries they were written from', () => {
    const entries = [...decodeSnapshot(bytesOf(V1)).entries()];
    expect(entries.map(plain)).toEqual(entriesOf(fixtureTree()).map(plain));
  });

  it('of version 1 equal the ones written today', () => {
    expect(encodeSnapshot(entriesOf(fixtureTree()))).toEqual(bytesOf(V1));
  });

  it('of a future version are refused with the kind `version`', () => {
    expect(() => decodeSnapshot(bytesOf(V2))).toThrowError(
      expect.objectContaining({ name: 'StorageError', kind: 'version', retryable: false }),
    );
  });
});
