import type { Component } from '@earendil-works/pi-tui/dist/tui.js';
import { colors } from '../../output/colors.ts';
import { createCachedPart, type Part, createTextPart, wrapLines } from './part.ts';
import type { Fold } from './view.ts';

// Every frame compares all lines, so the log is bounded; the transcript has the rest.
const MAX_LINES = 4000;
const KEPT_LINES = 2000;

const EARLIER = colors.dim('… earlier output: `hookline sessions show`');

/** The conversation, from top to bottom. */
export class Log implements Component {
  #parts: Part[] = [];
  #isUnfolded = false;
  #isBelowAnswer = false;

  add(part: Part): void {
    this.#isBelowAnswer = false;
    this.#parts.push(part);
  }

  /** Marks the end of an answer. */
  endAnswer(): void {
    this.#isBelowAnswer = true;
  }

  /** Adds a blank line after an answer. */
  leaveGap(): void {
    if (this.#isBelowAnswer) this.add(createTextPart(''));
  }

  addFold({ head, details }: Fold): void {
    const folded = createTextPart(head);
    const unfolded = createCachedPart((width) => [
      ...wrapLines(head, width),
      ...details.flatMap((line) => wrapLines(line, width - 2).map((each) => `  ${each}`)),
    ]);
    this.add((width) => (this.#isUnfolded ? unfolded(width) : folded(width)));
  }

  toggleFolds(): void {
    this.#isUnfolded = !this.#isUnfolded;
  }

  remove(parts: ReadonlySet<Part>): void {
    this.#parts = this.#parts.filter((part) => !parts.has(part));
  }

  clear(): void {
    this.#parts = [];
    this.#isBelowAnswer = false;
  }

  invalidate(): void {
    // Parts are rendered again only when the width changes.
  }

  render(width: number): string[] {
    const all = this.#parts.map((part) => part(width));
    const count = all.reduce((sum, lines) => sum + lines.length, 0);
    if (count > MAX_LINES) return this.#shorten(all, width);
    return all.flat();
  }

  #shorten(all: readonly (readonly string[])[], width: number): string[] {
    let keptLines = 0;
    let first = all.length;
    while (first > 0 && keptLines + (all[first - 1]?.length ?? 0) <= KEPT_LINES) {
      first -= 1;
      keptLines += all[first]?.length ?? 0;
    }
    this.#parts = [createTextPart(EARLIER), ...this.#parts.slice(Math.min(first, all.length - 1))];
    return this.#parts.flatMap((part) => part(width));
  }
}
