import { createScanner, type Node, type ParseError, parseTree } from './jsonc.ts';
import { isRecord } from './json.ts';
import { parseLocatedJson } from './located-json.ts';

/** Parses a text to a tree; returns what is wrong with it, and where, when it is not JSON. */
export function parseDocument(body: string): Node | string {
  const errors: ParseError[] = [];
  const root = parseTree(body, errors, { allowTrailingComma: true });
  if (errors.length === 0 && root !== undefined) return root;
  const fault = parseLocatedJson(body);
  return 'why' in fault
    ? `line ${fault.line}: ${fault.why}`
    : 'expected JSON, found something else';
}

export function getLineNumber(body: string, offset: number): number {
  return body.slice(0, offset).split('\n').length;
}

interface Cut {
  readonly from: number;
  readonly to: number;
}

/** Removes an item of an array or a property of an object; comments beside it stay. */
export function removeNode(body: string, node: Node): string {
  const siblings = node.parent?.children ?? [];
  const previous = siblings[siblings.indexOf(node) - 1];
  const comma = findCommaAfter(body, getEnd(node));
  const lines = widenToLines(body, { from: node.offset, to: getEnd(node) }, comma);
  if (comma !== null) return removeRanges(body, [lines, { from: comma, to: comma + 1 }]);
  const before = previous === undefined ? null : findCommaAfter(body, getEnd(previous));
  return removeRanges(body, before === null ? [lines] : [{ from: before, to: before + 1 }, lines]);
}

function getEnd(node: Node): number {
  return node.offset + node.length;
}

/** Finds the offset of the next comma, skipping comments. */
function findCommaAfter(body: string, offset: number): number | null {
  const scanner = createScanner(body, true);
  scanner.setPosition(offset);
  scanner.scan();
  const tokenOffset = scanner.getTokenOffset();
  return body[tokenOffset] === ',' ? tokenOffset : null;
}

/** Widens a cut to whole lines when nothing else is on them, except a comment at the end. */
function widenToLines(body: string, { from, to }: Cut, comma: number | null): Cut {
  const start = body.lastIndexOf('\n', from - 1) + 1;
  const end = comma !== null && body.slice(to, comma).trim() === '' ? comma + 1 : to;
  const rest = /^[ \t]*(?:\/\/[^\n]*)?(?:\r?\n|$)/.exec(body.slice(end))?.[0];
  const isAlone = body.slice(start, from).trim() === '' && rest !== undefined;
  if (isAlone) return { from: start, to: end + rest.length };
  const blanks = /^[ \t]*/.exec(body.slice(end))?.[0].length ?? 0;
  return { from, to: end === to ? to : end + blanks };
}

/** Cuts may overlap: a comma may already be gone with its line. */
function removeRanges(body: string, cuts: readonly Cut[]): string {
  let text = '';
  let at = 0;
  for (const { from, to } of cuts.toSorted((one, other) => one.from - other.from)) {
    text += body.slice(at, Math.max(at, from));
    at = Math.max(at, to);
  }
  return text + body.slice(at);
}

/** What is to be added: an item of an array or, with a key, a property of an object. */
interface Addition {
  readonly key?: string;
  readonly value: unknown;
}

/** Adds at the end of an array or object, laid out like what is there. */
export function appendNode(body: string, container: Node, addition: Addition): string {
  const last = container.children?.at(-1);
  return last === undefined
    ? fillEmpty(body, container, addition)
    : appendAfter(body, container, last, addition);
}

function fillEmpty(body: string, container: Node, addition: Addition): string {
  const unit = detectIndentUnit(body);
  const outer = getIndent(body, container.offset);
  const lineEnd = detectLineEnd(body);
  const start = container.offset + 1;
  const inner = body.slice(start, getEnd(container) - 1);
  const text = `${lineEnd}${outer}${unit}${formatIndented(addition, unit, outer + unit, lineEnd)}`;
  const rest = inner.trim() === '' ? `${lineEnd}${outer}` : inner;
  return body.slice(0, start) + text + rest + body.slice(getEnd(container) - 1);
}

function appendAfter(body: string, container: Node, last: Node, addition: Addition): string {
  const comma = findCommaAfter(body, getEnd(last));
  const end = comma === null ? getEnd(last) : comma + 1;
  const separator = comma === null ? ',' : '';
  const trailing = comma === null ? '' : ',';
  const isOneLine = getLineNumber(body, container.offset) === getLineNumber(body, last.offset);
  if (isOneLine) {
    const text = `${separator} ${formatInOneLine(addition)}${trailing}`;
    return body.slice(0, end) + text + body.slice(end);
  }
  const remark = /^[ \t]*\/\/[^\n\r]*/.exec(body.slice(end))?.[0] ?? '';
  const indent = getIndent(body, last.offset);
  const lineEnd = detectLineEnd(body);
  const isFlat = getLineNumber(body, last.offset) === getLineNumber(body, getEnd(last));
  const text =
    isFlat && isRecord(addition.value)
      ? formatInOneLine(addition)
      : formatIndented(addition, detectIndentUnit(body), indent, lineEnd);
  const added = `${separator}${remark}${lineEnd}${indent}${text}${trailing}`;
  return body.slice(0, end) + added + body.slice(end + remark.length);
}

function formatIndented(
  { key, value }: Addition,
  unit: string,
  indent: string,
  lineEnd: string,
): string {
  const text = JSON.stringify(value, null, unit).replaceAll('\n', `${lineEnd}${indent}`);
  return key === undefined ? text : `${JSON.stringify(key)}: ${text}`;
}

function formatInOneLine({ key, value }: Addition): string {
  const text = formatSpaced(value);
  return key === undefined ? text : `${JSON.stringify(key)}: ${text}`;
}

function formatSpaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatSpaced).join(', ')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const fields = Object.entries(value).map(
    ([name, each]) => `${JSON.stringify(name)}: ${formatSpaced(each)}`,
  );
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

function getIndent(body: string, offset: number): string {
  const start = body.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(body.slice(start))?.[0] ?? '';
}

function detectIndentUnit(body: string): string {
  return /\n([ \t]+)\S/.exec(body)?.[1] ?? '  ';
}

function detectLineEnd(body: string): string {
  return body.includes('\r\n') ? '\r\n' : '\n';
}
