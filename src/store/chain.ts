import { createHash } from 'node:crypto';
import type { SqlRow } from './driver.ts';
import { type EventValues, toBytes, toNumber } from './stored-event.ts';

/** The newest entry of the chain. */
export interface ChainHead {
  readonly sequence: number;
  readonly hash: Uint8Array;
}

/** Before the first event. */
export const CHAIN_START: ChainHead = { sequence: 0, hash: new Uint8Array(32) };

/** Hashes an event together with the hash before it and its number. JSON has no line break, so nothing is ambiguous. */
export function computeHash(
  before: Uint8Array,
  sequence: number,
  { fields, payload }: EventValues,
): Uint8Array {
  return createHash('sha256')
    .update(before)
    .update(`${JSON.stringify([sequence, ...fields])}\n`)
    .update(payload)
    .digest();
}

/** The result of `READ_HEAD`, which must run inside of the transaction that appends: other processes append, too. */
export function toHead([row]: readonly SqlRow[]): ChainHead {
  if (row === undefined) return CHAIN_START;
  return { sequence: toNumber(row['sequence']), hash: toBytes(row['hash']) };
}

export const READ_HEAD = 'SELECT sequence, hash FROM head';
