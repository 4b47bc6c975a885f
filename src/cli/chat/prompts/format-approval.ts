import { existsSync } from 'node:fs';
import path from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { type DisplayPart, listCallParts, readCurrentText } from '../../../agent/call-parts.ts';
import type { ApprovalRequest } from '../../../agent/session-context.ts';
import { listVisibleLines, escapeInvisible } from '../../../base/visible-text.ts';
import type { PermissionUpdate } from '../../../permissions/permissions.ts';
import { colors } from '../../output/colors.ts';
import { toOneLine, toPrintable } from '../../output/print.ts';

/**
 * The effect of a call as lines: a diff, the command, or the input. Secrets are shown and no field is
 * omitted, because the user must see what they approve.
 */
export function formatCallLines({ tool, input }: ApprovalRequest, cwd: string): readonly string[] {
  const parts = listCallParts({ tool, input, cwd });
  const lines = parts.map((part) => formatPart(part, cwd));
  // If one part has no readable form, the whole input is shown, so that nothing is hidden.
  return lines.every((each) => each !== null) ? lines.flat() : formatInput(tool, input);
}

/** The question for an approval: "Allow this edit to app.ts?". */
export function formatQuestion({ tool, input }: Pick<ApprovalRequest, 'tool' | 'input'>): string {
  const [part, ...more] = listCallParts({ tool, input, cwd: path.sep });
  const file = part?.fields['file_path'];
  if (part === undefined || more.length > 0) return `Allow ${toOneLine(tool)}?`;
  if (part.name === 'Bash') return 'Allow this command?';
  if (part.name === 'ExitPlanMode') return 'Approve this plan?';
  if (!['Edit', 'Write'].includes(part.name) || typeof file !== 'string') {
    return `Allow ${toOneLine(tool)}?`;
  }
  return `Allow this edit to ${toOneLine(path.basename(file))}?`;
}

/** Null when the input itself must be shown. */
function formatPart({ name, fields }: DisplayPart, cwd: string): readonly string[] | null {
  const readText = (field: string): string | null => {
    const value = fields[field];
    return typeof value === 'string' ? value : null;
  };
  const formatRest = (...names: readonly string[]): readonly string[] =>
    formatOtherFields(fields, names);
  const [file, content, command, plan] = [
    readText('file_path'),
    readText('content'),
    readText('command'),
    readText('plan'),
  ];
  if (name === 'Write' && file !== null && content !== null) {
    return [...formatDiff(file, cwd, () => content), ...formatRest('file_path', 'content')];
  }
  if (name === 'Edit' && file !== null) return formatEdit(file, fields, cwd);
  if (name === 'Bash' && command !== null) {
    return [...formatCommand(command), ...formatRest('command')];
  }
  if (name === 'ExitPlanMode' && plan !== null) {
    return [...plan.split('\n').map(escapeInvisible), ...formatRest('plan')];
  }
  return null;
}

function formatEdit(
  file: string,
  fields: DisplayPart['fields'],
  cwd: string,
): readonly string[] | null {
  const { old_string: before, new_string: after, replace_all: all } = fields;
  if (typeof before !== 'string' || typeof after !== 'string') return null;
  const old = readCurrentText(file) ?? '';
  // An unreadable change is shown as raw input.
  if (before === '' && old !== '') return null;
  const otherFields = formatOtherFields(fields, [
    'file_path',
    'old_string',
    'new_string',
    'replace_all',
  ]);
  if (!old.includes(before)) return [...formatBareChange(file, cwd, before, after), ...otherFields];
  const applyEdit = (): string => applyReplacement(old, before, after, all === true);
  return [...formatDiff(file, cwd, applyEdit), ...otherFields];
}

/** The old text may come from an earlier part of the same call. */
function formatBareChange(file: string, cwd: string, before: string, after: string) {
  const removed = before.split('\n').map((line) => colorLine(`-${line}`));
  return [formatFileName(file, cwd), ...removed, ...after.split('\n').map(formatAddedLine)];
}

function formatOtherFields(
  fields: DisplayPart['fields'],
  formatted: readonly string[],
): readonly string[] {
  return Object.entries(fields)
    .filter(([name]) => !formatted.includes(name))
    .map(
      ([name, value]) => `${toPrintable(name)}: ${escapeInvisible(JSON.stringify(value) ?? '')}`,
    );
}

/** Replacer functions, because `$` has a meaning in replacement strings. */
function applyReplacement(old: string, before: string, after: string, isAll: boolean): string {
  if (before === '') return after;
  return isAll ? old.replaceAll(before, () => after) : old.replace(before, () => after);
}

const MAX_DIFF_CHARACTERS = 1_000_000;

function formatDiff(file: string, cwd: string, applyEdit: () => string): readonly string[] {
  const name = formatFileName(file, cwd);
  const old = readCurrentText(file);
  const now = applyEdit();
  const head = existsSync(file) ? name : `${name} (new)`;
  if (old === null && existsSync(file)) return [head, ...now.split('\n').map(formatAddedLine)];
  if ((old?.length ?? 0) + now.length > MAX_DIFF_CHARACTERS) {
    return [head, ...now.split('\n').map(formatAddedLine)];
  }
  const patch = createTwoFilesPatch(name, name, old ?? '', now, '', '', { context: 3 });
  const lines = patch.trimEnd().split('\n').slice(4);
  return [head, ...(lines.length === 0 ? ['(nothing changes)'] : lines.map(colorLine))];
}

function formatFileName(file: string, cwd: string): string {
  return toPrintable(path.relative(cwd, file) || file);
}

function formatAddedLine(line: string): string {
  return colors.green(`+${escapeInvisible(line)}`);
}

function colorLine(line: string): string {
  const text = escapeInvisible(line).replaceAll('\t', '    ');
  if (line.startsWith('+')) return colors.green(text);
  if (line.startsWith('-')) return colors.red(text);
  return line.startsWith('@@') || line.startsWith('\\') ? colors.dim(text) : text;
}

function formatCommand(command: string): readonly string[] {
  const [first = '', ...rest] = listVisibleLines(command);
  return [`$ ${first}`, ...rest.map((line) => `  ${line}`)];
}

function formatInput(tool: string, input: unknown): readonly string[] {
  const text = JSON.stringify(input, null, 2) ?? '';
  return [toPrintable(tool), ...text.split('\n').map(escapeInvisible)];
}

/** The permissions that an approval for the session would add. */
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
