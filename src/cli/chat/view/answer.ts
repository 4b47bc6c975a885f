import type { Log } from './log.ts';
import { createCachedPart, type Part, renderMarkdown } from './part.ts';
import type { AnswerView } from './view.ts';

// Markdown is parsed again at every change, so only an open tail is kept mutable.
const LONG_TAIL = 60;

const FENCE = /^ {0,3}(```+|~~~+)(.*)$/u;
// A line that continues a list item or code.
const CONTINUED = /^(?:\s|$)/u;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*\|[\s:|-]*$/u;

/**
 * An answer that arrives in pieces. Completed text becomes an immutable part of the log: up to a blank line
 * outside of code, or after a number of lines.
 */
export class Answer implements AnswerView {
  readonly #log: Log;
  readonly #onChange: () => void;
  readonly #parts = new Set<Part>();
  readonly #open: Part;
  #written = '';
  #lines: string[] = [];
  #last = '';
  #fence: { readonly mark: string; readonly head: string } | null = null;
  #isWithinCode = false;
  #endsBlank = false;
  #isEnded = false;
  #tail: Part | null = null;

  constructor(log: Log, onChange: () => void) {
    this.#log = log;
    this.#onChange = onChange;
    this.#open = (width) => this.#getTail()(width);
    this.#parts.add(this.#open);
    log.add(this.#open);
  }

  append(markdown: string): void {
    this.#written += markdown;
    const [first = '', ...rest] = markdown.split('\n');
    this.#last += first;
    for (const next of rest) {
      this.#endLine(this.#last);
      this.#last = next;
    }
    this.#tail = null;
    this.#onChange();
  }

  end(markdown: string): void {
    this.#isEnded = true;
    this.#tail = null;
    if (markdown.trim() === this.#written.trim()) this.#onChange();
    else {
      this.discard();
      this.#log.add(createMarkdownPart(markdown));
    }
    if (markdown.trim() !== '') this.#log.endAnswer();
  }

  discard(): void {
    this.#log.remove(this.#parts);
    this.#onChange();
  }

  #endLine(line: string): void {
    const isLong = this.#lines.length >= LONG_TAIL;
    if (isLong && this.#fence === null && !CONTINUED.test(line)) this.#freezeLong(line);
    this.#lines.push(line);
    const wasCode = this.#fence !== null;
    this.#followFence(line);
    const isBlank = line.trim() === '';
    if (this.#fence === null) {
      if (isBlank || wasCode) this.#freeze();
    } else if (wasCode && isLong) this.#freeze();
  }

  /** A long table continues in a new one with the same header. */
  #freezeLong(next: string): void {
    const rule = this.#lines.findIndex((line) => TABLE_RULE.test(line));
    const isTable = rule > 0 && next.includes('|');
    const head = isTable ? this.#lines.slice(rule - 1, rule + 1) : [];
    this.#freeze();
    this.#lines.push(...head);
  }

  #followFence(line: string): void {
    const [, mark = '', rest = ''] = FENCE.exec(line) ?? [];
    if (mark === '') return;
    if (this.#fence === null) this.#fence = { mark, head: line };
    else if (mark.startsWith(this.#fence.mark) && rest.trim() === '') this.#fence = null;
  }

  /** Freezes the current lines; code continues in the next part. */
  #freeze(): void {
    const isBlank = this.#lines.every((line) => line.trim() === '');
    const isWanted = !isBlank || (this.#parts.size > 1 && !this.#endsBlank);
    if (isWanted) {
      this.#addPart(isBlank ? createCachedPart(() => ['']) : this.#createPart(this.#lines));
      this.#endsBlank = this.#lines.at(-1)?.trim() === '';
    }
    this.#lines = [];
    this.#isWithinCode = this.#fence !== null;
  }

  #addPart(part: Part): void {
    this.#parts.add(part);
    this.#log.remove(new Set([this.#open]));
    this.#log.add(part);
    this.#log.add(this.#open);
  }

  #getTail(): Part {
    this.#tail ??= this.#createPart([...this.#lines, this.#last]);
    return this.#tail;
  }

  #createPart(lines: readonly string[]): Part {
    const [isContinued, fence] = [this.#isWithinCode, this.#fence];
    const isOpen = fence !== null && !this.#isEnded;
    const head = isContinued ? [this.#findCodeHead(lines)] : [];
    const foot = fence === null ? [] : [fence.mark];
    const text = [...head, ...lines, ...foot].join('\n');
    const isBlankAfter = fence === null && lines.at(-1)?.trim() === '';
    if (text.trim() === '') return createCachedPart(() => []);
    return createCachedPart((width) => {
      const markdownLines = renderMarkdown(text, width);
      const from = isContinued ? 1 : 0;
      const visible = markdownLines.slice(from, isOpen ? -1 : undefined);
      return isBlankAfter && visible.at(-1) !== '' ? [...visible, ''] : visible;
    });
  }

  #findCodeHead(lines: readonly string[]): string {
    if (this.#fence !== null) return this.#fence.head;
    // The code block has just ended with its own fence.
    return FENCE.exec(lines.at(-1) ?? '')?.[1] ?? '```';
  }
}

function createMarkdownPart(text: string): Part {
  return createCachedPart((width) => renderMarkdown(text, width));
}
