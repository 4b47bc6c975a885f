import { isNestedTooDeep, isRecord, parseJson } from '../../base/json.ts';
import type { TrustUnit } from '../collect.ts';

/**
 * What a hook runs, as a shell would read it: a script is that itself, an entry of a file says it,
 * with the variables that go with it; one that asks a service or a model runs nothing.
 */
export function extractCommandText(unit: TrustUnit, text: string): string {
  const parsed = unit.text === undefined ? null : parseJson(text);
  if (parsed === null || !parsed.ok || isNestedTooDeep(parsed.value)) return text;
  return commandLines(parsed.value).join('\n');
}

function commandLines(value: unknown): readonly string[] {
  if (!isRecord(value)) return [];
  const { command, args, environment } = value;
  const variables = isRecord(environment) ? Object.values(environment).map(String) : [];
  if (typeof command !== 'string') {
    return [...Object.values(value).flatMap(commandLines), ...variables];
  }
  return [[command, ...(Array.isArray(args) ? args.map(String) : [])].join(' '), ...variables];
}

/** The words of each command; `cleaned` takes from a line what does not belong to words. */
export function* splitCommands(
  text: string,
  cleaned: (line: string) => string,
): Generator<readonly string[]> {
  for (const line of text.split('\n')) {
    if (/^\s*(?:#|\/\/)/.test(line)) continue;
    for (const command of cleaned(line).split(/[;|&()`]+/)) {
      yield command.trim().split(/\s+/);
    }
  }
}

const COMMAND_STARTERS = new Set(
  '|then|do|else|if|while|until|!|{|exec|time|command|builtin|env|sudo|nohup|-c'.split('|'),
);

/** Whether a command begins with this word, as far as the one before it tells. */
export function isCommandStart(words: readonly string[], index: number): boolean {
  const before = words[index - 1] ?? '';
  return COMMAND_STARTERS.has(before) || /^\w+=/.test(before);
}
