import { readFileSync } from 'node:fs';

/**
 * A filter that takes the kernel's keyrings away, as bubblewrap loads it: they are not part of any
 * namespace, and hold what the user's programs keep there. To a program it looks as if the kernel had
 * none. Null where the kernel has no such filters, or for a processor whose numbers are not known here.
 */
export function buildSyscallFilter(architecture: string): Uint8Array | null {
  const calls = KEYRING_CALLS[architecture];
  if (calls === undefined || !hasFilters()) return null;
  const blocks = calls.flatMap(buildBlock);
  return encode([...blocks, RETURN_ALLOWED]);
}

function hasFilters(): boolean {
  try {
    return /^Seccomp:/m.test(readFileSync('/proc/self/status', 'latin1'));
  } catch {
    return false;
  }
}

/** One way in which a processor's programs call the kernel. */
interface CallNumbers {
  /** As `AUDIT_ARCH_…` of the kernel. */
  readonly audit: number;
  /** Of `add_key`, `request_key` and `keyctl`. */
  readonly numbers: readonly number[];
}

const KEYRING_CALLS: Readonly<Record<string, readonly CallNumbers[]>> = {
  x64: [
    { audit: 0xc000003e, numbers: [248, 249, 250] },
    // Programs of 32 bits.
    { audit: 0x40000003, numbers: [286, 287, 288] },
  ],
  arm64: [
    { audit: 0xc00000b7, numbers: [217, 218, 219] },
    { audit: 0x40000028, numbers: [309, 310, 311] },
  ],
};

interface Instruction {
  readonly code: number;
  readonly whenTrue?: number;
  readonly whenFalse?: number;
  readonly value: number;
}

// Codes of the classic packet filter: load a word, compare and skip, mask, return.
const LOAD = 0x20;
const SKIP_IF_EQUAL = 0x15;
const MASK = 0x54;
const RETURN = 0x06;
// Where `struct seccomp_data` has them.
const CALL_NUMBER = 0;
const AUDIT_ARCHITECTURE = 4;
/** x32 programs of a 64-bit processor set this bit in the same numbers. */
const WITHOUT_X32_BIT = 0xbfffffff;

const RETURN_ALLOWED: Instruction = { code: RETURN, value: 0x7fff0000 };
/** The error ENOSYS. */
const RETURN_ABSENT: Instruction = { code: RETURN, value: 0x00050000 | 38 };

function buildBlock({ audit, numbers }: CallNumbers): readonly Instruction[] {
  const tests = numbers.map((value, index) => ({
    code: SKIP_IF_EQUAL,
    whenTrue: numbers.length - index,
    value,
  }));
  const inside = [
    { code: LOAD, value: CALL_NUMBER },
    { code: MASK, value: WITHOUT_X32_BIT },
    ...tests,
    RETURN_ALLOWED,
    RETURN_ABSENT,
  ];
  return [
    { code: LOAD, value: AUDIT_ARCHITECTURE },
    { code: SKIP_IF_EQUAL, whenFalse: inside.length, value: audit },
    ...inside,
  ];
}

const INSTRUCTION_BYTES = 8;

function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(program.length * INSTRUCTION_BYTES);
  for (const [index, { code, whenTrue = 0, whenFalse = 0, value }] of program.entries()) {
    const at = index * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(whenTrue, at + 2);
    bytes.writeUInt8(whenFalse, at + 3);
    bytes.writeUInt32LE(value, at + 4);
  }
  return bytes;
}
