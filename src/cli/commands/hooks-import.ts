import path from 'node:path';
import { HooklineError } from '../../base/errors.ts';
import { truncateText } from '../../base/json.ts';
import { formatPath } from '../../base/paths.ts';
import { findDialect, listDialectsWith } from '../../dialects/index.ts';
import type { DiscoveredUnit } from '../../dialects/discovery.ts';
import type { ImportPlan, ImportReport, ReportedEntry } from '../../dialects/import-hooks.ts';
import { findProjectRoot } from '../../dialects/workspace-roots.ts';
import type { Host } from '../../host/create-host.ts';
import { createMachine } from '../../host/dialect-machine.ts';
import { toTrustUnit } from '../../host/hook-set.ts';
import { redactObject } from '../../host/redact-object.ts';
import { type Binding, bindUnit } from '../../trust/bind-unit.ts';
import { compareFileMaps, ENTRY_TEXT_KEY } from '../../trust/file-map.ts';
import {
  confirm,
  type Command,
  type CommandContext,
  rejectInsideSession,
  withHost,
} from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { formatTrustNotes, preserveTrust } from '../config-files/preserve-trust.ts';
import { colors } from '../output/colors.ts';
import { HeldNotices } from '../output/held-notices.ts';
import { toOneLine, formatCount, toPrintable } from '../output/print.ts';

interface ImportOptions {
  readonly from?: string;
  readonly to?: string;
  readonly global?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** `hookline hooks import --from claude`: copies another agent's hooks into `.cline/hooks.json`. */
export const importHooks: Command<ImportOptions> = async (context, options) => {
  if (options.dryRun !== true) rejectInsideSession(context, 'hooks import');
  const hookImport = findDialect(options.from ?? '')?.importFrom;
  if (hookImport === undefined) throw createNoOriginError();
  const planImport = await hookImport.load();
  const notices = new HeldNotices(context.print);
  const copy = () =>
    withHost(
      context,
      async (host) => {
        const request = {
          isGlobal: options.global === true,
          to: options.to === undefined ? null : path.resolve(host.surroundings.cwd, options.to),
          disabled: host.hooks().flatMap(({ hook, isEnabled }) => (isEnabled ? [] : [hook])),
        };
        const plan = planImport(request, createMachine(host));
        const exitCode = await runImport(context, host, plan, options);
        const { leftOut } = plan.report;
        const printed = new Set(
          leftOut.map(({ file, line, why }) => `${file} line ${line}: ${why}`),
        );
        notices.printOthers((notice) => printed.has(notice));
        return exitCode;
      },
      // No hook runs here, and existing hooks must be found even where hooks are disabled.
      { flags: { 'hooks.enabled': true }, onNotice: notices.add },
    );
  return notices.run(copy);
};

async function runImport(
  context: CommandContext,
  host: Host,
  plan: ImportPlan,
  options: ImportOptions,
): Promise<ExitCode> {
  const { report } = plan;
  const redacted = await redactObject(report, context.flags);
  if (context.flags.json !== true) context.print.out(formatReport(redacted, host));
  const isWritten = await confirmImport(context, report, options);
  const notes = isWritten ? await writeImport(context, host, plan) : [];
  for (const note of notes) context.print.note(`note: ${toOneLine(note)}`);
  reportEnd(context, redacted, isWritten);
  const isFinished = isWritten || options.dryRun === true || isNothingLeft(report);
  return isFinished ? EXIT.fine : EXIT.refused;
}

/** Whether there was nothing to copy; files in which no hook can be read are something. */
function isNothingLeft({ added, present, leftOut }: ImportReport): boolean {
  return added.length === 0 && (present.length > 0 || leftOut.length === 0);
}

function reportEnd(
  { print, flags }: CommandContext,
  report: ImportReport,
  isWritten: boolean,
): void {
  if (flags.json === true) print.json({ ...report, written: isWritten });
  else if (isWritten) print.out(`Wrote ${formatCount(report.added.length, 'hook')}.`);
}

async function confirmImport(
  context: CommandContext,
  report: ImportReport,
  options: ImportOptions,
): Promise<boolean> {
  if (options.dryRun === true || report.added.length === 0) return false;
  if (options.yes === true) return true;
  const text = `Write ${formatCount(report.added.length, 'hook')} to ${toOneLine(report.to)}?`;
  if (await confirm(context, { text, flag: '--yes' })) return true;
  context.print.note('Nothing was written.');
  return false;
}

async function writeImport(
  context: CommandContext,
  host: Host,
  plan: ImportPlan,
): Promise<readonly string[]> {
  const { to } = plan.report;
  const preserved = await preserveTrust(
    context,
    host,
    () => plan.write(),
    [],
    createCopyCheck(host, plan),
  );
  const waiting = host
    .hooks()
    .filter(({ hook, trustedBy }) => hook.path === to && trustedBy === null).length;
  return [
    ...formatTrustNotes(preserved),
    ...(waiting === 0
      ? []
      : [`${formatCount(waiting, 'hook')} there must be trusted first: \`hookline trust\``]),
  ];
}

/** A copy of a hook that the user trusts is trusted as well, if it runs the same files. */
function createCopyCheck(
  host: Host,
  { report, isCopy }: ImportPlan,
): (copy: DiscoveredUnit, binding: Binding) => boolean {
  const trusted = host
    .hooks()
    .filter(({ hook, trustedBy }) => trustedBy === 'record' && hook.line !== null)
    .map(({ hook }) => ({ hook, files: bindUnit(toTrustUnit(hook)).files }));
  return (copy, { files }) =>
    copy.path === report.to &&
    trusted.some(
      ({ hook, files: before }) =>
        isCopy(copy, hook) &&
        compareFileMaps(before, files).every((difference) => difference.path === ENTRY_TEXT_KEY),
    );
}

function createNoOriginError(): HooklineError {
  const flags = listDialectsWith('importFrom').map((name) => `--from ${name}`);
  return new HooklineError('USAGE_INVALID', {
    message: 'missing --from',
    hint: `Use ${flags.join(' or ')}.`,
  });
}

function formatReport(report: ImportReport, host: Host): string {
  const { added, present, leftOut, notes, to } = report;
  const showPath = (file: string): string =>
    toOneLine(formatPath(file, { cwd: findProjectRoot(host), home: host.surroundings.home }));
  const differing = added.filter(({ differs }) => differs.length > 0).length;
  return [
    `${formatCount(added.length, 'hook')} to copy to ${showPath(to)}${formatDifferenceCount(added.length, differing)}`,
    ...added.flatMap((entry) => formatEntry(entry, showPath)),
    ...present.map((entry) => `  ${colors.dim(`already there: ${formatTitle(entry, showPath)}`)}`),
    ...leftOut.map(({ file, line, why }) =>
      colors.yellow(`  left out: ${showPath(file)}:${line}: ${toPrintable(why)}`),
    ),
    ...notes.map((note) => toPrintable(note)),
  ].join('\n');
}

function formatDifferenceCount(total: number, differing: number): string {
  if (total === 0) return '.';
  return differing === 0 ? '; none would differ:' : `; ${differing} of them would differ:`;
}

type ShowPath = (file: string) => string;

function formatEntry(entry: ReportedEntry, showPath: ShowPath): string[] {
  return [
    `  ${formatTitle(entry, showPath)}`,
    ...entry.differs.map((text) => colors.yellow(`    ! ${toPrintable(text)}`)),
  ];
}

const RUNS_WIDTH = 60;

function formatTitle(
  { event, matcher, type, runs, file, line }: ReportedEntry,
  showPath: ShowPath,
) {
  const what = runs.length <= RUNS_WIDTH ? runs : `${truncateText(runs, RUNS_WIDTH - 1)}…`;
  const subject = matcher === null || matcher === '' ? '' : ` ${matcher}`;
  return `${event}${toPrintable(subject)}: ${type} ${toPrintable(what)} ${colors.dim(`${showPath(file)}:${line}`)}`;
}
