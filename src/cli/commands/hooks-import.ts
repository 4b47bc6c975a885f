import path from 'node:path';
import { HooklineError } from '../../base/errors.ts';
import { isInside } from '../../base/paths.ts';
import type { Host } from '../../host/create-host.ts';
import { confirm, type Command, type CommandContext, withHost } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { keepingTrustOf } from '../import/keep.ts';
import { mergeHooks } from '../import/merge.ts';
import { projectRoot } from '../../dialects/claude-config/sources/places.ts';
import { readClaudeHooks, sourcesOf } from '../import/read-claude.ts';
import { createReport, type ImportReport, jsonReport, readableReport } from '../import/report.ts';
import { clineDirectory } from '../../host/dialects/own-directory.ts';
import { type HooksFile, openHooksFile } from '../config-files/hooks-file.ts';
import { formatTrustNotes, preserveTrust } from '../config-files/preserve-trust.ts';
import { toOneLine, formatCount } from '../output/print.ts';
import { redactObject } from '../../host/redact-object.ts';

export interface ImportOptions {
  readonly from?: string;
  readonly to?: string;
  readonly global?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** `hookline hooks import --from claude`: copies settings hooks into `.cline/hooks.json`. */
export const importHooks: Command<ImportOptions> = async (context, options) => {
  if (options.from === undefined) throw noOrigin();
  return withHost(
    context,
    (host) => runImport(context, host, options),
    // Nothing runs here, and what is there must be seen even where hooks are switched off.
    { flags: { 'hooks.enabled': true } },
  );
};

async function runImport(
  context: CommandContext,
  host: Host,
  options: ImportOptions,
): Promise<ExitCode> {
  const isGlobal = options.global === true;
  const found = readClaudeHooks(host, isGlobal);
  if (found.files.length === 0) throw nothingThere(host, isGlobal);
  const { file, within } = targetOf(host, options);
  const target = openHooksFile(file, within);
  const merged = mergeHooks(target, found.entries);
  const report = createReport({ host, found, merged, to: file, isGlobal });
  const shown = await redactObject(report, context.flags);
  if (context.flags.json !== true) context.print.out(readableReport(shown, host));
  const isWritten = await isAgreed(context, { report, options });
  const notes = isWritten ? await write(host, { target, text: merged.text, report }) : [];
  for (const note of notes) context.print.note(`note: ${toOneLine(note)}`);
  tellEnd(context, shown, isWritten);
  const isFinished = isWritten || options.dryRun === true || report.added.length === 0;
  return isFinished ? EXIT.fine : EXIT.refused;
}

function tellEnd({ print, flags }: CommandContext, report: ImportReport, isWritten: boolean): void {
  if (flags.json === true) print.json(jsonReport(report, isWritten));
  else if (isWritten) print.out(`Wrote ${formatCount(report.added.length, 'hook')}.`);
}

async function isAgreed(
  context: CommandContext,
  { report, options }: { report: ImportReport; options: ImportOptions },
): Promise<boolean> {
  if (options.dryRun === true || report.added.length === 0) return false;
  if (options.yes === true) return true;
  const text = `Write ${formatCount(report.added.length, 'hook')} to ${toOneLine(report.to)}?`;
  if (await confirm(context, { text, flag: '--yes' })) return true;
  context.print.note('Nothing was written.');
  return false;
}

async function write(
  host: Host,
  { target, text, report }: { target: HooksFile; text: string; report: ImportReport },
): Promise<readonly string[]> {
  const keeping = keepingTrustOf(host, report);
  const kept = await preserveTrust(host, () => target.write(text), keeping);
  const waiting = host
    .hooks()
    .filter(({ hook, trustedBy }) => hook.path === report.to && trustedBy === null).length;
  return [
    ...formatTrustNotes(kept),
    ...(waiting === 0
      ? []
      : [`${formatCount(waiting, 'hook')} there must be trusted first: \`hookline trust\``]),
  ];
}

interface Target {
  readonly file: string;
  readonly within: string | null;
}

function targetOf(host: Host, { to, global: isGlobal }: ImportOptions): Target {
  const root = projectRoot(host);
  if (to !== undefined) {
    const file = path.resolve(host.surroundings.cwd, to);
    return { file, within: isInside(root, file) ? root : null };
  }
  if (isGlobal !== true) return { file: path.join(root, '.cline', 'hooks.json'), within: root };
  const directory = clineDirectory(host.surroundings);
  if (directory === null) throw nothingThere(host, true);
  return { file: path.join(directory, 'hooks.json'), within: null };
}

function noOrigin(): HooklineError {
  return new HooklineError('USAGE_INVALID', {
    message: 'whose hooks to import is missing',
    hint: 'Say --from claude.',
  });
}

function nothingThere(host: Host, isGlobal: boolean): HooklineError {
  const files = sourcesOf(host, isGlobal).map(({ file }) => file);
  const place = files.length === 0 ? 'a home directory' : files.join(' or ');
  return new HooklineError('USAGE_INVALID', {
    message: `there is nothing to import: expected ${place}, found nothing`,
    hint: isGlobal
      ? 'Leave --global out for the settings of this project.'
      : 'Name the project with --cwd DIR, or say --global for your own settings.',
  });
}
