import { existsSync } from 'node:fs';
import path from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { type CallPart, callParts, currentText } from '../../../agent/call-parts.ts';
import type { ApprovalRequest } from '../../../agent/world.ts';
import type { PermissionUpdate } from '../../../permissions/permissions.ts';
import { colors } from '../../output/colors.ts';
import { toPrintable } from '../../output/print.ts';

/**
 * What a call would do, as lines: the difference to the file, the command, or its input. Secrets in
 * it stay, and no field is left out: whoever lets it happen must see what happens.
 */
export function formatCallLines({ tool, input }: ApprovalRequest, cwd: string): readonly string[] {
  const parts = callParts({ tool, input, cwd });
  const told = parts.map((part) => formatPart(part, cwd));
  // Only with all parts in words is nothing hidden.
  return told.every((lines) => lines !== null) ? told.flat() : formatInput(tool, input);
}

/** Null when only the input itself tells it. */
function formatPart({ name, fields }: CallPart, cwd: string): readonly string[] | null {
  const text = (field: string): string | null => {
    const value = fields[field];
    return typeof value === 'string' ? value : null;
  };
  const rest = (...told: readonly string[]): readonly string[] => formatOtherFields(fields, told);
  const [file, content, command, plan] = [
    text('file_path'),
    text('content'),
    text('command'),
    text('plan'),
  ];
  if (name === 'Write' && file !== null && content !== null) {
    return [...formatDiff(file, cwd, () => content), ...rest('file_path', 'content')];
  }
  if (name === 'Edit' && file !== null) return formatEdit({ file, fields, cwd });
  if (name === 'Bash' && command !== null) return [...formatCommand(command), ...rest('command')];
  if (name === 'ExitPlanMode' && plan !== null) {
    return [...plan.split('\n').map(toPrintable), ...rest('plan')];
  }
  return null;
}

interface EditOfFile {
  readonly file: string;
  readonly fields: CallPart['fields'];
  readonly cwd: string;
}

function formatEdit({ file, fields, cwd }: EditOfFile): readonly string[] | null {
  const { old_string: before, new_string: after, replace_all: all } = fields;
  if (typeof before !== 'string' || typeof after !== 'string') return null;
  const old = currentText(file) ?? '';
  // A change that nobody could read is shown as it is.
  if (before === '' && old !== '') return null;
  const told = formatOtherFields(fields, ['file_path', 'old_string', 'new_string', 'replace_all']);
  if (!old.includes(before)) return [...formatBareChange({ file, cwd, before, after }), ...told];
  const change = (): string => applyReplacement({ old, before, after, isAll: all === true });
  return [...formatDiff(file, cwd, change), ...told];
}

/** What stands there may come only from an earlier part of the same call. */
function formatBareChange({
  file,
  cwd,
  before,
  after,
}: Record<'file' | 'cwd' | 'before' | 'after', string>) {
  const removed = before.split('\n').map((line) => colorLine(`-${line}`));
  return [formatFileName(file, cwd), ...removed, ...after.split('\n').map(formatAddedLine)];
}

function formatOtherFields(fields: CallPart['fields'], told: readonly string[]): readonly string[] {
  return Object.entries(fields)
    .filter(([name]) => !told.includes(name))
    .map(([name, value]) => `${toPrintable(name)}: ${toPrintable(JSON.stringify(value) ?? '')}`);
}

interface Replacement {
  readonly old: string;
  readonly before: string;
  readonly after: string;
  readonly isAll: boolean;
}

/** In functions, because a dollar sign in a plain replacement means something else. */
function applyReplacement({ old, before, after, isAll }: Replacement): string {
  if (before === '') return after;
  return isAll ? old.replaceAll(before, () => after) : old.replace(before, () => after);
}

const MAX_DIFF_CHARACTERS = 1_000_000;

function formatDiff(file: string, cwd: string, change: () => string): readonly string[] {
  const name = formatFileName(file, cwd);
  const old = currentText(file);
  const now = change();
  const head = existsSync(file) ? name : `${name} (new)`;
  if (old === null && existsSync(file)) return [head, ...now.split('\n').map(formatAddedLine)];
  if ((old?.length ?? 0) + now.length > MAX_DIFF_CHARACTERS)
    return [head, ...now.split('\n').map(formatAddedLine)];
  const patch = createTwoFilesPatch(name, name, old ?? '', now, '', '', { context: 3 });
  const lines = patch.trimEnd().split('\n').slice(4);
  return [head, ...(lines.length === 0 ? ['(nothing changes)'] : lines.map(colorLine))];
}

function formatFileName(file: string, cwd: string): string {
  return toPrintable(path.relative(cwd, file) || file);
}

function formatAddedLine(line: string): string {
  return colors.green(`+${toPrintable(line)}`);
}

function colorLine(line: string): string {
  const text = toPrintable(line).replaceAll('\t', '    ');
  if (line.startsWith('+')) return colors.green(text);
  if (line.startsWith('-')) return colors.red(text);
  return line.startsWith('@@') || line.startsWith('\\') ? colors.dim(text) : text;
}

function formatCommand(command: string): readonly string[] {
  const [first = '', ...rest] = command.split('\n').map(toPrintable);
  return [`$ ${first}`, ...rest.map((line) => `  ${line}`)];
}

function formatInput(tool: string, input: unknown): readonly string[] {
  const text = JSON.stringify(input, null, 2) ?? '';
  return [toPrintable(tool), ...text.split('\n').map(toPrintable)];
}

/** What would not be asked again, in a few words. */
export function formatUpdates(updates: readonly PermissionUpdate[]): string {
  return updates.map(formatUpdate).join(', ');
}

function formatUpdate(update: PermissionUpdate): string {
  if (update.type === 'setMode') return `mode ${update.mode}`;
  if ('directories' in update) return `work in ${update.directories.map(toPrintable).join(', ')}`;
  return update.rules
    .map(({ toolName, ruleContent }) =>
      toPrintable(ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`),
    )
    .join(', ');
}
