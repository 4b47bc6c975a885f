import type { Matcher } from '../../../hooks/matcher.ts';
import { type ClaudeEvent, isClaudeEvent } from '../names.ts';
import { hasSubject, isToolEvent, SUBJECT_VALUES } from './subjects.ts';
import { FORMER_TOOLS, findMeantTool, isKnownTool } from '../../known-tools.ts';

/** What a person should know of a matcher: above all, which part of it can never match. */
export function matcherNotes(matcher: Matcher, event: ClaudeEvent): readonly string[] {
  if (matcher.kind === 'all') return [];
  if (!hasSubject(event)) return [`the matcher is ignored: ${event} has nothing to match`];
  const own = matcher.note === null ? [] : [`matcher ${quote(matcher.text)} ${matcher.note}`];
  return [...own, ...(isToolEvent(event) ? toolNotes(matcher) : valueNotes(matcher, event))];
}

function toolNotes({ kind, text }: Matcher): readonly string[] {
  if (kind === 'list') return listNotes(listedNames(text));
  if (EXPRESSION.test(text)) {
    return [
      `${quote(text)} can never match: a matcher is the name of a tool or a pattern for it; what the call is about belongs in "if"`,
    ];
  }
  const [, tool] = /^(\w+)\(.*\)$/s.exec(text) ?? [];
  if (tool === undefined || !isKnownTool(tool)) return [];
  return [`${quote(text)} can never match: it is a permission rule, which belongs in "if"`];
}

/** `tool == "Bash" && tool_input.command matches "npm"`: no tool has such a name. */
const EXPRESSION = /\s(?:[=!]=|&&|matches)\s/;

/** A former name next to today's does no harm. */
function listNotes(names: readonly string[]): readonly string[] {
  const telling = names.filter((name) => !names.includes(FORMER_TOOLS.get(name) ?? ''));
  return telling.flatMap((name) => findToolNote(name) ?? []);
}

/** Why no tool has this name, as far as that can be told, or null. */
export function findToolNote(name: string): string | null {
  const successor = FORMER_TOOLS.get(name);
  if (successor !== undefined) {
    return `${name} is a tool of older versions; no tool has this name now: write ${successor}`;
  }
  if (name.startsWith('mcp__')) return findMcpNote(name);
  if (isClaudeEvent(name)) return `${quote(name)} matches nothing: it is an event, not a tool`;
  const meant = findMeantTool(name);
  if (meant === null) return null;
  const isCaseVariant = meant.toLowerCase() === name.toLowerCase();
  const why = isCaseVariant ? 'names of tools are case-sensitive' : 'no tool of this name is known';
  return `${quote(name)} matches nothing: ${why}; did you mean ${quote(meant)}?`;
}

function findMcpNote(name: string): string | null {
  if (/^mcp__.+?__./.test(name)) return null;
  const server = name.replace(/__$/, '');
  const which = server === 'mcp' ? 'every MCP tool' : 'every tool of the server';
  return `${quote(name)} matches nothing: it names no tool; write ${quote(`${server}__.*`)} for ${which}`;
}

function valueNotes({ kind, text }: Matcher, event: ClaudeEvent): readonly string[] {
  if (event === 'FileChanged') return fileNotes(text);
  const values = SUBJECT_VALUES[event];
  if (values === undefined || kind !== 'list') return [];
  return listedNames(text)
    .filter((name) => !values.includes(name))
    .map((name) => `${quote(name)} matches nothing: ${event} has ${values.join(', ')}`);
}

/** A matcher of FileChanged also says what is watched, and that are files by their names. */
function fileNotes(text: string): readonly string[] {
  return text
    .split('|', MAX_LOOKED_AT)
    .filter((name) => /[*?[\](){}^$+\\]/.test(name))
    .map(
      (name) => `${quote(name)} is watched as the name of a file: each name has to be written out`,
    );
}

const MAX_LOOKED_AT = 200;

/** The first of them: nobody writes more by hand, and looking for a misspelling takes long. */
function listedNames(text: string): readonly string[] {
  const names = text.split(/[|,]/, MAX_LOOKED_AT).map((name) => name.trim());
  return names.filter((name) => name !== '');
}

function quote(text: string): string {
  return JSON.stringify(text);
}
