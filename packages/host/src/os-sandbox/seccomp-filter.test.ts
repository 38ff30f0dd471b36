import { describe, expect, it } from 'vitest';
import { seccompFilter } from './seccomp-filter.js';

const ALLOWED = 0x7fff_0000;
const EPERM = 0x0005_0001;
const ENOSYS = 0x0005_0026;

interface Call {
  readonly audit: number;
  readonly number: number;
  readonly second?: bigint;
}

/** Runs a filter as the kernel does: each jump goes forward, and each path ends in a return. */
function run(filter: Uint8Array, { audit, number, second = 0n }: Call): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, audit, true);
  data.setBigUint64(24, second, true);
  const program = new DataView(filter.buffer);
  let word = 0;
  for (let at = 0; at < filter.length; ) {
    const code = program.getUint16(at, true);
    const operand = program.getUint32(at + 4, true);
    const jump = (holds: boolean): number => 8 + 8 * program.getUint8(at + (holds ? 2 : 3));
    if (code === 0x06) return operand;
    if (code === 0x20) word = data.getUint32(operand, true);
    if (code === 0x05) at += 8 + 8 * operand;
    else if (code === 0x15) at += jump(word === operand);
    else if (code === 0x35) at += jump(word >= operand);
    else if (code === 0x20) at += 8;
    else throw new Error(`Unknown opcode ${code}`);
  }
  throw new Error('The program does not end in a return');
}

describe('seccompFilter()', () => {
  it.each([
    ['x64', 'x64', 0xc000003e, 16, [248, 249, 250]],
    ['x64', 'i386', 0x40000003, 54, [286, 287, 288]],
    ['arm64', 'arm64', 0xc00000b7, 29, [217, 218, 219]],
    ['arm64', 'arm', 0x40000028, 54, [309, 310, 311]],
  ] as const)(
    'on %s denies programs of %s keyrings and typing, and nothing else',
    (architecture, _, audit, ioctl, keys) => {
      const filter = seccompFilter(architecture) as Uint8Array;
      expect(filter.length % 8).toBe(0);
      const denied = new Map<number, number>();
      for (let number = 0; number < 1_024; number++) {
        const result = run(filter, { audit, number });
        if (result !== ALLOWED) denied.set(number, result);
      }
      expect(denied).toEqual(new Map(keys.map((key) => [key, EPERM])));
      for (const request of [0x5412n, 0x541cn, 0xdead_beef_0000_5412n, 0x1_0000_541cn])
        expect(run(filter, { audit, number: ioctl, second: request })).toBe(EPERM);
      for (const request of [0x5401n, 0x5413n, 0x541bn, 0x1_5412n, 0x5412_0000_0000n])
        expect(run(filter, { audit, number: ioctl, second: request })).toBe(ALLOWED);
    },
  );

  it('refuses calls of x32 and of foreign instruction sets', () => {
    const x64 = seccompFilter('x64') as Uint8Array;
    const arm64 = seccompFilter('arm64') as Uint8Array;
    for (const number of [39, 250, 0x1ff]) {
      expect(run(x64, { audit: 0xc000003e, number: 0x4000_0000 + number })).toBe(ENOSYS);
      expect(run(x64, { audit: 0xc00000b7, number })).toBe(ENOSYS);
      expect(run(arm64, { audit: 0xc000003e, number })).toBe(ENOSYS);
    }
  });

  it('exists for x64 and arm64 only', () => {
    for (const architecture of ['ia32', 'arm', 'riscv64', 's390x', 'constructor'])
      expect(seccompFilter(architecture)).toBeUndefined();
  });
});
