import { CHAIN_START, type ChainHead, computeHash, READ_HEAD, toHead } from './chain.ts';
import type { SqlDatabase, SqlRow } from './driver.ts';
import { readEventValues, toBytes, toNumber } from './stored-event.ts';

/** What is wrong with one place of the chain. */
export interface ChainProblem {
  readonly kind: 'changed' | 'missing' | 'checkpoint' | 'end';
  readonly sequence: number;
  readonly message: string;
}

export interface ChainReport {
  readonly isIntact: boolean;
  readonly events: number;
  /** Events that retention or `purge` removed, as the checkpoints tell. */
  readonly removed: number;
  readonly problems: readonly ChainProblem[];
}

const PAGE_ROWS = 500;
const MOST_PROBLEMS = 100;

/** Recalculates every hash; a gap in the numbers must be covered by a checkpoint. */
export function verifyChain(database: SqlDatabase): ChainReport {
  const checkpoints = new Map(
    database
      .prepare('SELECT * FROM checkpoints ORDER BY first')
      .all()
      .map((row) => [toNumber(row['first']), row]),
  );
  const walk = new ChainWalk(checkpoints);
  const page = database.prepare(
    'SELECT * FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?',
  );
  // Read before the events: what another process appends meanwhile is no part of this check.
  const head = toHead(database.prepare(READ_HEAD).all());
  for (let after = -1; ;) {
    const rows = page
      .all(after, PAGE_ROWS)
      .filter((row) => toNumber(row['sequence']) <= head.sequence);
    for (const row of rows) walk.visit(row);
    if (rows.length < PAGE_ROWS) break;
    after = toNumber(rows.at(-1)?.['sequence']);
  }
  return walk.finish(head);
}

class ChainWalk {
  readonly #checkpoints: ReadonlyMap<number, SqlRow>;
  readonly #problems: ChainProblem[] = [];
  #events = 0;
  #removed = 0;
  #last: ChainHead = CHAIN_START;
  /** False after a gap: nobody knows the hash before it. */
  #isLinked = true;

  constructor(checkpoints: ReadonlyMap<number, SqlRow>) {
    this.#checkpoints = checkpoints;
  }

  visit(row: SqlRow): void {
    const sequence = toNumber(row['sequence']);
    this.#advanceTo(sequence - 1);
    const hash = toBytes(row['hash']);
    const expected = computeHash(this.#last.hash, sequence, readEventValues(row));
    if (this.#isLinked && !Buffer.from(expected).equals(hash)) {
      const id = typeof row['id'] === 'string' ? row['id'] : '';
      this.#report(
        'changed',
        sequence,
        `event ${sequence} (${id}) was changed, or the one before it`,
      );
    }
    this.#last = { sequence, hash };
    this.#isLinked = true;
    this.#events++;
  }

  finish(head: ChainHead): ChainReport {
    this.#advanceTo(head.sequence, 'end');
    if (this.#isLinked && !Buffer.from(this.#last.hash).equals(head.hash)) {
      this.#report('end', head.sequence, 'the newest event is not the one that was stored last');
    }
    return {
      isIntact: this.#problems.length === 0,
      events: this.#events,
      removed: this.#removed,
      problems: this.#problems,
    };
  }

  /** Follows checkpoints up to an event; what they do not cover is missing. */
  #advanceTo(end: number, kind: 'missing' | 'end' = 'missing'): void {
    while (this.#last.sequence < end) {
      const first = this.#last.sequence + 1;
      const checkpoint = this.#checkpoints.get(first);
      const last = toNumber(checkpoint?.['last']);
      if (checkpoint === undefined || last < first || last > end) {
        const which = first === end ? `event ${first} is` : `events ${first} to ${end} are`;
        this.#report(kind, first, `${which} missing`);
        this.#last = { sequence: end, hash: this.#last.hash };
        this.#isLinked = false;
        return;
      }
      if (
        this.#isLinked &&
        !Buffer.from(toBytes(checkpoint['hash_before'])).equals(this.#last.hash)
      ) {
        const message = `the checkpoint for the removed events ${first} to ${last} does not follow event ${first - 1}`;
        this.#report('checkpoint', first, message);
      }
      this.#removed += last - first + 1;
      this.#last = { sequence: last, hash: toBytes(checkpoint['hash']) };
      this.#isLinked = true;
    }
  }

  #report(kind: ChainProblem['kind'], sequence: number, message: string): void {
    if (this.#problems.length < MOST_PROBLEMS) this.#problems.push({ kind, sequence, message });
  }
}
