/** The affected system calls of one instruction set, and the number that identifies the set (`AUDIT_ARCH_…`). */
interface SystemCalls {
  readonly audit: number;
  readonly ioctl: number;
  /** `add_key`, `request_key` and `keyctl`. */
  readonly keys: readonly number[];
  /** Lowest number of another calling convention, whose numbers this table does not contain: x32 on x64. */
  readonly foreignFrom?: number;
}

/** Instruction sets of the programs that can run on a machine: its own, and the 32-bit one. */
const MACHINES: Readonly<Record<string, readonly SystemCalls[]>> = {
  x64: [
    { audit: 0xc000003e, ioctl: 16, keys: [248, 249, 250], foreignFrom: 0x4000_0000 },
    { audit: 0x4000_0003, ioctl: 54, keys: [286, 287, 288] },
  ],
  arm64: [
    { audit: 0xc00000b7, ioctl: 29, keys: [217, 218, 219] },
    { audit: 0x4000_0028, ioctl: 54, keys: [309, 310, 311] },
  ],
};

/** `ioctl` requests that type into the caller's terminal: TIOCSTI and TIOCLINUX. */
const TYPING = [0x5412, 0x541c];

/** Opcodes of classic BPF: load the word at `k`, jump to `k` instructions further on, compare with `k`, return `k`. */
const LOAD = 0x20;
const JUMP = 0x05;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const RETURN = 0x06;

/** Offsets in `struct seccomp_data`. The last one is the low word of the second argument on a little-endian machine. */
const NUMBER = 0;
const AUDIT = 4;
const SECOND_ARGUMENT = 24;

const ALLOW = 0x7fff_0000;
const FAIL = 0x0005_0000;
const EPERM = 1;
const ENOSYS = 38;

/** One instruction: opcode, instructions to skip if a comparison holds or does not, operand. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, k: number];

/**
 * Returns a seccomp filter as bubblewrap reads it (an array of `struct sock_filter`), or undefined for an architecture
 * that has none. With it `keyctl`, `add_key` and `request_key`, which reach the session keyring of the caller, fail
 * with EPERM, and so do the ioctls that type into a terminal. Programs expect EPERM there, since Docker's default
 * filter returns it too. System calls of an unknown convention fail with ENOSYS, as in a kernel built without it.
 *
 * @param architecture as in `process.arch`
 */
export function seccompFilter(architecture: string): Uint8Array | undefined {
  const machine = Object.hasOwn(MACHINES, architecture) ? MACHINES[architecture] : undefined;
  if (machine === undefined) return undefined;
  const program: Instruction[] = [[LOAD, 0, 0, AUDIT], ...machine.flatMap(sectionOf), [RETURN, 0, 0, FAIL | ENOSYS]];
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  for (const [i, [code, ifTrue, ifFalse, k]] of program.entries()) {
    bytes.setUint16(i * 8, code, true);
    bytes.setUint8(i * 8 + 2, ifTrue);
    bytes.setUint8(i * 8 + 3, ifFalse);
    bytes.setUint32(i * 8 + 4, k, true);
  }
  return new Uint8Array(bytes.buffer);
}

/**
 * Returns instructions that decide on the calls of one instruction set. For other sets they continue after the section.
 */
function sectionOf({ audit, ioctl, keys, foreignFrom }: SystemCalls): Instruction[] {
  const decide: Instruction[] = [
    [LOAD, 0, 0, NUMBER],
    ...(foreignFrom === undefined ? [] : onMatch(IF_AT_LEAST, foreignFrom, FAIL | ENOSYS)),
    ...keys.flatMap((key) => onMatch(IF_EQUAL, key, FAIL | EPERM)),
    [IF_EQUAL, 1, 0, ioctl],
    [RETURN, 0, 0, ALLOW],
    [LOAD, 0, 0, SECOND_ARGUMENT],
    ...TYPING.flatMap((request) => onMatch(IF_EQUAL, request, FAIL | EPERM)),
    [RETURN, 0, 0, ALLOW],
  ];
  return [[IF_EQUAL, 1, 0, audit], [JUMP, 0, 0, decide.length], ...decide];
}

function onMatch(comparison: number, k: number, result: number): Instruction[] {
  return [
    [comparison, 0, 1, k],
    [RETURN, 0, 0, result],
  ];
}
