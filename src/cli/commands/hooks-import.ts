import path from 'node:path';
import { HooklineError } from '../../base/errors.ts';
import { truncateText } from '../../base/json.ts';
import { formatPath } from '../../base/paths.ts';
import { findDialect, listDialectsWith } from '../../dialects/index.ts';
import type { ImportPlan, ImportReport, ReportedEntry } from '../../dialects/import-hooks.ts';
import { findProjectRoot } from '../../dialects/place.ts';
import type { Host } from '../../host/create-host.ts';
import { createMachine } from '../../host/dialect-machine.ts';
import { toTrustUnit } from '../../host/hook-set.ts';
import { redactObject } from '../../host/redact-object.ts';
import { bindUnit } from '../../trust/bind-unit.ts';
import { compareFileMaps, ENTRY_TEXT_KEY } from '../../trust/file-map.ts';
import { confirm, type Command, type CommandContext, withHost } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import {
  type PreserveTrustOptions,
  formatTrustNotes,
  preserveTrust,
} from '../config-files/preserve-trust.ts';
import { colors } from '../output/colors.ts';
import { toOneLine, formatCount, toPrintable } from '../output/print.ts';

export interface ImportOptions {
  readonly from?: string;
  readonly to?: string;
  readonly global?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** `hookline hooks import --from claude`: copies another agent's hooks into `.cline/hooks.json`. */
export const importHooks: Command<ImportOptions> = async (context, options) => {
  const load = findDialect(options.from ?? '')?.importFrom;
  if (load === undefined) throw noOrigin();
  const importFrom = await load();
  return withHost(
    context,
    (host) => {
      const request = {
        isGlobal: options.global === true,
        to: options.to === undefined ? null : path.resolve(host.surroundings.cwd, options.to),
        disabled: host.hooks().flatMap(({ hook, isEnabled }) => (isEnabled ? [] : [hook])),
      };
      return runImport(context, host, { plan: importFrom(request, createMachine(host)), options });
    },
    // Nothing runs here, and what is there must be seen even where hooks are switched off.
    { flags: { 'hooks.enabled': true } },
  );
};

async function runImport(
  context: CommandContext,
  host: Host,
  { plan, options }: { plan: ImportPlan; options: ImportOptions },
): Promise<ExitCode> {
  const { report } = plan;
  const shown = await redactObject(report, context.flags);
  if (context.flags.json !== true) context.print.out(formatReport(shown, host));
  const isWritten = await isAgreed(context, { report, options });
  const notes = isWritten ? await write(host, plan) : [];
  for (const note of notes) context.print.note(`note: ${toOneLine(note)}`);
  reportEnd(context, shown, isWritten);
  const isFinished = isWritten || options.dryRun === true || report.added.length === 0;
  return isFinished ? EXIT.fine : EXIT.refused;
}

function reportEnd(
  { print, flags }: CommandContext,
  report: ImportReport,
  isWritten: boolean,
): void {
  if (flags.json === true) print.json({ ...report, written: isWritten });
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

async function write(host: Host, plan: ImportPlan): Promise<readonly string[]> {
  const { to } = plan.report;
  const kept = await preserveTrust(host, () => plan.write(), keepTrustOfCopies(host, plan));
  const waiting = host
    .hooks()
    .filter(({ hook, trustedBy }) => hook.path === to && trustedBy === null).length;
  return [
    ...formatTrustNotes(kept),
    ...(waiting === 0
      ? []
      : [`${formatCount(waiting, 'hook')} there must be trusted first: \`hookline trust\``]),
  ];
}

/** A copy of a hook that the user trusts is trusted as well, if it runs the very same files. */
function keepTrustOfCopies(host: Host, { report, isCopy }: ImportPlan): PreserveTrustOptions {
  const trusted = host
    .hooks()
    .filter(({ hook, trustedBy }) => trustedBy === 'record' && hook.line !== null)
    .map(({ hook }) => ({ hook, files: bindUnit(toTrustUnit(hook)).files }));
  return {
    alsoTrust: (copy, { files }) =>
      copy.path === report.to &&
      trusted.some(
        ({ hook, files: before }) =>
          isCopy(copy, hook) &&
          compareFileMaps(before, files).every((difference) => difference.path === ENTRY_TEXT_KEY),
      ),
  };
}

function noOrigin(): HooklineError {
  const flags = listDialectsWith('importFrom').map((name) => `--from ${name}`);
  return new HooklineError('USAGE_INVALID', {
    message: 'whose hooks to import is missing',
    hint: `Say ${flags.join(' or ')}.`,
  });
}

function formatReport(report: ImportReport, host: Host): string {
  const { added, present, leftOut, notes, to } = report;
  const shown = (file: string): string =>
    toOneLine(formatPath(file, { cwd: findProjectRoot(host), home: host.surroundings.home }));
  const differing = added.filter(({ differs }) => differs.length > 0).length;
  return [
    `${formatCount(added.length, 'hook')} to copy to ${shown(to)}${differenceCount(added.length, differing)}`,
    ...added.flatMap((entry) => entryLines(entry, shown)),
    ...present.map((entry) => `  ${colors.dim(`already there: ${titleOf(entry, shown)}`)}`),
    ...leftOut.map(({ file, line, why }) =>
      colors.yellow(`  left out: ${shown(file)}:${line}: ${toPrintable(why)}`),
    ),
    ...notes.map((note) => toPrintable(note)),
  ].join('\n');
}

function differenceCount(total: number, differing: number): string {
  if (total === 0) return '.';
  return differing === 0 ? '; none would differ:' : `; ${differing} of them would differ:`;
}

type ShowPath = (file: string) => string;

function entryLines(entry: ReportedEntry, shown: ShowPath): string[] {
  return [
    `  ${titleOf(entry, shown)}`,
    ...entry.differs.map((text) => colors.yellow(`    ! ${toPrintable(text)}`)),
  ];
}

const RUNS_WIDTH = 60;

function titleOf({ event, matcher, type, runs, file, line }: ReportedEntry, shown: ShowPath) {
  const what = runs.length <= RUNS_WIDTH ? runs : `${truncateText(runs, RUNS_WIDTH - 1)}…`;
  const subject = matcher === null || matcher === '' ? '' : ` ${matcher}`;
  return `${event}${toPrintable(subject)}: ${type} ${toPrintable(what)} ${colors.dim(`${shown(file)}:${line}`)}`;
}
