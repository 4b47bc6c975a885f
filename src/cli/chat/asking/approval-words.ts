import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createTwoFilesPatch } from 'diff';
import type { ApprovalRequest } from '../../../agent/world.ts';
import { isRecord } from '../../../base/json.ts';
import type { PermissionUpdate } from '../../../permissions/permissions.ts';
import { colors } from '../../words/colors.ts';
import { printable } from '../../words/print.ts';

/**
 * What a call would do, as lines: the difference to the file, the command, or its input. Secrets in
 * it stay: whoever lets it happen must see what happens.
 */
export function callLines({ tool, input }: ApprovalRequest, cwd: string): readonly string[] {
  const fields = isRecord(input) ? input : {};
  const text = (name: string): string | null => {
    const value = fields[name];
    return typeof value === 'string' ? value : null;
  };
  const file = text('file_path') ?? text('path');
  const content = text('content');
  const [before, after] = [text('old_string'), text('new_string')];
  if (file !== null && content !== null) return difference(file, cwd, () => content);
  if (file !== null && before !== null && after !== null) {
    const isAll = fields['replace_all'] === true;
    return difference(file, cwd, (old) => replaced({ old, before, after, isAll }));
  }
  const plan = text('plan');
  if (plan !== null) return plan.split('\n').map(printable);
  const commands = commandsOf(fields);
  if (commands.length > 0) return commands.flatMap(commandLines);
  return inputLines(tool, input);
}

interface Replacement {
  readonly old: string;
  readonly before: string;
  readonly after: string;
  readonly isAll: boolean;
}

/** In functions, because a dollar sign in a plain replacement means something else. */
function replaced({ old, before, after, isAll }: Replacement): string {
  if (before === '') return after;
  return isAll ? old.replaceAll(before, () => after) : old.replace(before, () => after);
}

const LONGEST_FILE = 1_000_000;

function difference(file: string, cwd: string, change: (old: string) => string): readonly string[] {
  const name = printable(path.relative(cwd, path.resolve(cwd, file)) || file);
  const old = readIfPresent(path.resolve(cwd, file));
  const now = change(old ?? '');
  const head = old === null ? `${name} (new)` : name;
  if ((old?.length ?? 0) + now.length > LONGEST_FILE) return [head, ...now.split('\n').map(added)];
  const patch = createTwoFilesPatch(name, name, old ?? '', now, '', '', { context: 3 });
  const lines = patch.trimEnd().split('\n').slice(4);
  return [head, ...(lines.length === 0 ? ['(nothing changes)'] : lines.map(paintLine))];
}

function readIfPresent(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Not there yet, or not to be read: the tool will say which.
    return null;
  }
}

function added(line: string): string {
  return colors.green(`+${printable(line)}`);
}

function paintLine(line: string): string {
  const text = printable(line).replaceAll('\t', '    ');
  if (line.startsWith('+')) return colors.green(text);
  if (line.startsWith('-')) return colors.red(text);
  return line.startsWith('@@') || line.startsWith('\\') ? colors.dim(text) : text;
}

function commandsOf(fields: Readonly<Record<string, unknown>>): readonly string[] {
  const { command, commands } = fields;
  if (typeof command === 'string') return [command];
  if (!Array.isArray(commands)) return [];
  return commands.filter((each): each is string => typeof each === 'string');
}

function commandLines(command: string): readonly string[] {
  const [first = '', ...rest] = command.split('\n').map(printable);
  return [`$ ${first}`, ...rest.map((line) => `  ${line}`)];
}

function inputLines(tool: string, input: unknown): readonly string[] {
  const text = JSON.stringify(input, null, 2) ?? '';
  return [printable(tool), ...text.split('\n').map(printable)];
}

/** What would not be asked again, in a few words. */
export function updateWords(updates: readonly PermissionUpdate[]): string {
  return updates.map(updateWord).join(', ');
}

function updateWord(update: PermissionUpdate): string {
  if (update.type === 'setMode') return `mode ${update.mode}`;
  if ('directories' in update) return `work in ${update.directories.map(printable).join(', ')}`;
  return update.rules
    .map(({ toolName, ruleContent }) =>
      printable(ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`),
    )
    .join(', ');
}
