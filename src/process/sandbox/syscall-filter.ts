import { readFileSync } from 'node:fs';

/**
 * A filter of system calls, as bubblewrap loads it, for what no namespace confines: the kernel's keyrings, in which
 * the user's programs keep things; io_uring, which makes other calls unseen by a filter; userfaultfd, with which
 * races in the kernel are won; and sockets that reach beyond every network namespace, such as VSOCK the host of a
 * virtual machine. To a program it looks as if the kernel had none of it. Null where the kernel has no such
 * filters, or for a processor whose numbers are not known here.
 */
export function buildSyscallFilter(architecture: string): Uint8Array | null {
  const interfaces = CALL_NUMBERS[architecture];
  if (interfaces === undefined || !hasFilters()) return null;
  return encode([...interfaces.flatMap(buildBlock), RETURN_ALLOWED]);
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
  /** Of `add_key`, `request_key`, `keyctl`, `userfaultfd` and the three of io_uring. */
  readonly absent: readonly number[];
  /** Of `socket` and `socketpair`, whose first argument is the family. */
  readonly sockets: readonly number[];
  /** Of `socketcall`, which has the arguments of another call in memory, where no filter can look. */
  readonly socketCall?: number;
}

/** The same for all processors. */
const IO_URING = [425, 426, 427];

const CALL_NUMBERS: Readonly<Record<string, readonly CallNumbers[]>> = {
  x64: [
    { audit: 0xc000003e, absent: [248, 249, 250, 323, ...IO_URING], sockets: [41, 53] },
    // Programs of 32 bits, and this way of calling in others.
    {
      audit: 0x40000003,
      absent: [286, 287, 288, 374, ...IO_URING],
      sockets: [359, 360],
      socketCall: 102,
    },
  ],
  arm64: [
    { audit: 0xc00000b7, absent: [217, 218, 219, 282, ...IO_URING], sockets: [198, 199] },
    { audit: 0x40000028, absent: [309, 310, 311, 388, ...IO_URING], sockets: [281, 288] },
  ],
};

/** UNIX, INET, INET6 and NETLINK: all of them belong to a network namespace. */
const SOCKET_FAMILIES = [1, 2, 10, 16];
/** The numbers of `socket` and `socketpair` within `socketcall`; its programs then make the calls directly. */
const SOCKET_SUBCALLS = [1, 8];

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
// Where `struct seccomp_data` has them; of an argument the lower half, because all of them are little-endian.
const CALL_NUMBER = 0;
const AUDIT_ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;
/** x32 programs of a 64-bit processor set this bit in the same numbers. */
const WITHOUT_X32_BIT = 0xbfffffff;

const RETURN_ALLOWED: Instruction = { code: RETURN, value: 0x7fff0000 };
/** The error ENOSYS. */
const RETURN_ABSENT: Instruction = { code: RETURN, value: 0x00050000 | 38 };
/** The error EAFNOSUPPORT. */
const RETURN_NO_FAMILY: Instruction = { code: RETURN, value: 0x00050000 | 97 };

/** All instructions of one way of calling; those of others skip them. */
function buildBlock({ audit, absent, sockets, socketCall }: CallNumbers): readonly Instruction[] {
  const inside = [
    { code: LOAD, value: CALL_NUMBER },
    { code: MASK, value: WITHOUT_X32_BIT },
    ...buildCase(absent, [RETURN_ABSENT]),
    ...buildCase(sockets, [
      { code: LOAD, value: FIRST_ARGUMENT },
      ...buildCase(SOCKET_FAMILIES, [RETURN_ALLOWED]),
      RETURN_NO_FAMILY,
    ]),
    ...buildCase(socketCall === undefined ? [] : [socketCall], [
      { code: LOAD, value: FIRST_ARGUMENT },
      ...buildCase(SOCKET_SUBCALLS, [RETURN_ABSENT]),
      RETURN_ALLOWED,
    ]),
    RETURN_ALLOWED,
  ];
  return [
    { code: LOAD, value: AUDIT_ARCHITECTURE },
    { code: SKIP_IF_EQUAL, whenFalse: inside.length, value: audit },
    ...inside,
  ];
}

/** Runs the instructions, which end in a return, when the loaded word is one of the values, and else skips them. */
function buildCase(
  values: readonly number[],
  instructions: readonly Instruction[],
): readonly Instruction[] {
  const tests = values.map((value, index) => ({
    code: SKIP_IF_EQUAL,
    whenTrue: values.length - 1 - index,
    // The last one decides for all.
    whenFalse: index === values.length - 1 ? instructions.length : 0,
    value,
  }));
  return values.length === 0 ? [] : [...tests, ...instructions];
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
