import type * as yaml from 'yaml';
import { requirePackage } from '../../../base/built-files.ts';
import { isNestedTooDeep, MAX_NESTING } from '../../../base/json.ts';
import type { Fault, Part } from '../../../base/located-json.ts';
import path from 'node:path';
import { splitFrontMatter } from '../../../base/text.ts';
import { NO_EVENTS, type ParsedEvents, parseEvents } from './parse-events.ts';
import type { Source } from '../entry.ts';

// Nested aliases could expand a small text to a huge one.
const MAX_ALIASES = 100;

type Yaml = typeof yaml;

let loaded: Yaml | null = null;

/** Loads the parser on first use, because most workspaces have no skill or agent with hooks. */
function loadYaml(): Yaml {
  return (loaded ??= requirePackage('yaml'));
}

/** Parses YAML; `firstLine` is the line of the file at which it starts. */
function parseLocatedYaml(text: string, firstLine: number): Part | Fault {
  const { LineCounter, parseDocument } = loadYaml();
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, merge: false });
    const [error] = document.errors;
    const findLine = (offset: number) => lines.linePos(offset).line + firstLine - 1;
    if (error !== undefined) {
      const [reason = ''] = error.message.split('\n');
      return { line: findLine(error.pos[0]), why: `expected YAML, found an error: ${reason}` };
    }
    const part = locate(document.contents, {
      document,
      lineAt: findLine,
      line: firstLine,
      aliases: 0,
    });
    return isNestedTooDeep(part.value) ? rejectDepth(firstLine) : part;
  } catch (error) {
    if (error instanceof RangeError) return rejectDepth(firstLine);
    throw error;
  }
}

function rejectDepth(line: number): Fault {
  return { line, why: `expected at most ${MAX_NESTING} levels of nesting, found more` };
}

interface NodeContext {
  readonly document: yaml.Document;
  readonly lineAt: (offset: number) => number;
  /** The line of the parent, for empty values, which have no range. */
  readonly line: number;
  aliases: number;
}

function locate(node: unknown, around: NodeContext): Part {
  const { isAlias, isMap, isScalar, isSeq } = loadYaml();
  if (isAlias(node)) {
    around.aliases += 1;
    const target = around.aliases > MAX_ALIASES ? null : node.resolve(around.document);
    return locate(target, around);
  }
  const line = getLine(node, around);
  if (isSeq(node)) {
    const items = node.items.map((item) => locate(item, around));
    return { value: items.map(({ value }) => value), line, fields: null, items, repeated: [] };
  }
  if (isMap(node)) return locateMap(node.items, line, around);
  const value = isScalar(node) ? node.value : null;
  return { value, line, fields: null, items: null, repeated: [] };
}

function getLine(node: unknown, { lineAt, line }: NodeContext): number {
  const { isMap, isScalar, isSeq } = loadYaml();
  if (!isScalar(node) && !isMap(node) && !isSeq(node)) return line;
  return node.range === undefined || node.range === null ? line : lineAt(node.range[0]);
}

function locateMap(
  pairs: readonly { readonly key: unknown; readonly value: unknown }[],
  line: number,
  around: NodeContext,
): Part {
  const { isScalar } = loadYaml();
  const fields = new Map<string, Part>();
  const repeated: string[] = [];
  for (const { key, value } of pairs) {
    const name = String(isScalar(key) ? key.value : key);
    if (fields.has(name)) repeated.push(name);
    fields.set(name, locate(value, around));
  }
  const value = Object.fromEntries([...fields].map(([name, part]) => [name, part.value]));
  return { value, line, fields, items: null, repeated };
}

const NOTHING = { ...NO_EVENTS, name: null };

/**
 * Reads `name` and `hooks` of the front matter of a skill or a sub-agent. Hooks of a sub-agent fire for
 * this agent type only, and its Stop means SubagentStop.
 */
export function readFrontMatterHooks(
  markdown: string,
  source: Source,
): ParsedEvents & { readonly name: string | null } {
  const { yaml } = splitFrontMatter(markdown);
  if (yaml === null || !/^hooks\s*:/m.test(yaml)) return NOTHING;
  const root = parseLocatedYaml(yaml, 2);
  if ('why' in root) {
    const { line, why } = root;
    return { ...NOTHING, broken: [{ source, line, event: null, why }] };
  }
  const nameValue = root.fields?.get('name')?.value;
  const name = typeof nameValue === 'string' ? nameValue : null;
  const hooks = root.fields?.get('hooks');
  if (hooks === undefined || hooks.value === null) return { ...NOTHING, name };
  const agentType =
    source.kind === 'agent' ? (name ?? path.basename(source.file, '.md')) : undefined;
  return { ...parseEvents(hooks, source, agentType), name };
}
