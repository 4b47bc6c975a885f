import { existsSync } from 'node:fs';
import path from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { type CallPart, callParts, currentText } from '../../../agent/call-parts.ts';
import type { ApprovalRequest } from '../../../agent/world.ts';
import type { PermissionUpdate } from '../../../permissions/permissions.ts';
import { colors } from '../../words/colors.ts';
import { printable } from '../../words/print.ts';

/**
 * What a call would do, as lines: the difference to the file, the command, or its input. Secrets in
 * it stay, and no field is left out: whoever lets it happen must see what happens.
 */
export function callLines({ tool, input }: ApprovalRequest, cwd: string): readonly string[] {
  const parts = callParts({ tool, input, cwd });
  const told = parts.map((part) => partLines(part, cwd));
  // Only with all parts in words is nothing hidden.
  return told.every((lines) => lines !== null) ? told.flat() : inputLines(tool, input);
}

/** Null when only the input itself tells it. */
function partLines({ name, fields }: CallPart, cwd: string): readonly string[] | null {
  const text = (field: string): string | null => {
    const value = fields[field];
    return typeof value === 'string' ? value : null;
  };
  const rest = (...told: readonly string[]): readonly string[] => restLines(fields, told);
  const [file, content, command, plan] = [
    text('file_path'),
    text('content'),
    text('command'),
    text('plan'),
  ];
  if (name === 'Write' && file !== null && content !== null) {
    return [...difference(file, cwd, () => content), ...rest('file_path', 'content')];
  }
  if (name === 'Edit' && file !== null) return editLines({ file, fields, cwd });
  if (name === 'Bash' && command !== null) return [...commandLines(command), ...rest('command')];
  if (name === 'ExitPlanMode' && plan !== null) {
    return [...plan.split('\n').map(printable), ...rest('plan')];
  }
  return null;
}

interface EditOfFile {
  readonly file: string;
  readonly fields: CallPart['fields'];
  readonly cwd: string;
}

function editLines({ file, fields, cwd }: EditOfFile): readonly string[] | null {
  const { old_string: before, new_string: after, replace_all: all } = fields;
  if (typeof before !== 'string' || typeof after !== 'string') return null;
  const old = currentText(file) ?? '';
  // A change that nobody could read is shown as it is.
  if (before === '' && old !== '') return null;
  const told = restLines(fields, ['file_path', 'old_string', 'new_string', 'replace_all']);
  if (!old.includes(before)) return [...bareChange({ file, cwd, before, after }), ...told];
  const change = (): string => replaced({ old, before, after, isAll: all === true });
  return [...difference(file, cwd, change), ...told];
}

/** What stands there may come only from an earlier part of the same call. */
function bareChange({
  file,
  cwd,
  before,
  after,
}: Record<'file' | 'cwd' | 'before' | 'after', string>) {
  const removed = before.split('\n').map((line) => paintLine(`-${line}`));
  return [nameOf(file, cwd), ...removed, ...after.split('\n').map(added)];
}

function restLines(fields: CallPart['fields'], told: readonly string[]): readonly string[] {
  return Object.entries(fields)
    .filter(([name]) => !told.includes(name))
    .map(([name, value]) => `${printable(name)}: ${printable(JSON.stringify(value) ?? '')}`);
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

function difference(file: string, cwd: string, change: () => string): readonly string[] {
  const name = nameOf(file, cwd);
  const old = currentText(file);
  const now = change();
  const head = existsSync(file) ? name : `${name} (new)`;
  if (old === null && existsSync(file)) return [head, ...now.split('\n').map(added)];
  if ((old?.length ?? 0) + now.length > LONGEST_FILE) return [head, ...now.split('\n').map(added)];
  const patch = createTwoFilesPatch(name, name, old ?? '', now, '', '', { context: 3 });
  const lines = patch.trimEnd().split('\n').slice(4);
  return [head, ...(lines.length === 0 ? ['(nothing changes)'] : lines.map(paintLine))];
}

function nameOf(file: string, cwd: string): string {
  return printable(path.relative(cwd, file) || file);
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
