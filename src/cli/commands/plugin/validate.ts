import type { Host } from '../../../host/create-host.ts';
import type { Command, CommandContext } from '../../context.ts';
import type { PluginIssue } from '../../../plugins/plugin-issue.ts';
import { EXIT } from '../../exit-codes.ts';
import type { ListedPlugin } from '../../plugins/select-plugins.ts';
import { type Inspected, inspectPlugin } from '../../plugins/inspect.ts';
import { explainNotLoaded, withNamedPlugins } from '../../plugins/named-plugin.ts';
import { colors } from '../../output/colors.ts';
import { formatContributions } from '../../output/format-plugin.ts';
import { toOneLine, formatCount, toPrintable } from '../../output/print.ts';

/** `hookline plugin validate PLUGIN`: its package, its manifest, and what its setup registers. */
export const validate: Command<{
  /** A path, or the name of one that is found here. */
  readonly plugin: string;
  readonly yes?: boolean;
  /** Reports rules of its manifest that it breaks as warnings, as sessions do. */
  readonly lenient?: boolean;
}> = (context, { plugin: wanted, yes = false, lenient = false }) =>
  withNamedPlugins(context, wanted, async (plugins, host) => {
    const reports: Report[] = [];
    for (const plugin of plugins) {
      reports.push(await checkPlugin(plugin, host, context, { yes, lenient }));
    }
    const isFine = reports.every((report) => isSound(report, context.flags.strict === true));
    if (context.flags.json === true) context.print.json({ valid: isFine, plugins: reports });
    else for (const report of reports) context.print.out(renderReport(report));
    return isFine ? EXIT.fine : EXIT.refused;
  });

/** `rule` is what was checked: `validate`, `import`, `setup` … */
type Finding = Pick<PluginIssue, 'level' | 'message'> & { readonly rule: string };

interface Report extends Pick<Inspected, 'name' | 'contributes' | 'hooks' | 'madeFor'> {
  readonly path: string;
  readonly findings: readonly Finding[];
}

async function checkPlugin(
  plugin: ListedPlugin,
  host: Host,
  context: CommandContext,
  { yes, lenient }: { readonly yes: boolean; readonly lenient: boolean },
): Promise<Report> {
  const { entry, status } = plugin;
  const about = { name: entry.label, path: status.hook.path };
  const nothing = { ...about, contributes: null, hooks: [], madeFor: [] };
  const { problem } = status.hook;
  if (problem !== null) return { ...nothing, findings: [toError('package', problem)] };
  const withheld = await explainNotLoaded(plugin, host, context, yes);
  if (withheld !== null) {
    return { ...nothing, findings: [toError('trust', `not loaded: ${withheld}`)] };
  }
  // A strict set-up would end at the first rule that is broken, and the others would not be listed.
  const flags = { ...context.flags, strict: false };
  const inspected = await inspectPlugin(plugin, host, { ...context, flags });
  const { name, contributes, hooks, madeFor } = inspected;
  return {
    ...about,
    name,
    contributes,
    hooks,
    madeFor,
    findings: listFindings(inspected, lenient),
  };
}

function toError(rule: string, message: string): Finding {
  return { rule, level: 'error', message };
}

function listFindings({ state, why, issues }: Inspected, lenient: boolean): readonly Finding[] {
  const findings = issues.map(({ phase: rule, level, message, violation }): Finding =>
    violation === undefined || lenient ? { rule, level, message } : toError(rule, violation),
  );
  const isReported = findings.some(({ level, message }) => level === 'error' && message === why);
  // A skipped plugin is fine, but made for another model.
  if (state === 'ready' || state === 'skipped' || isReported) return findings;
  if (state === 'disabled') {
    return [
      ...findings,
      { rule: 'validate', level: 'warning', message: 'it sets `disabled: true`' },
    ];
  }
  return [...findings, toError(why === null ? 'setup' : 'import', why ?? 'its setup failed')];
}

function isSound({ findings }: Report, isStrict: boolean): boolean {
  return !findings.some(({ level }) => level === 'error' || isStrict);
}

function renderReport({ name, path, findings, contributes, hooks, madeFor }: Report): string {
  const contributions = [
    formatContributions(contributes),
    hooks.length === 0 ? '' : `hooks: ${hooks.map(toOneLine).join(', ')}`,
    madeFor.length === 0 ? '' : `only for ${madeFor.map(toOneLine).join(', ')}`,
  ].filter((each) => each !== '');
  return [
    `${colors.bold(toOneLine(name))}  ${renderVerdict(findings)}`,
    colors.dim(`  ${toOneLine(path)}`),
    ...contributions.map((each) => `  ${each}`),
    ...findings.map(describeFinding),
  ].join('\n');
}

function renderVerdict(findings: readonly Finding[]): string {
  const errors = findings.filter(({ level }) => level === 'error').length;
  const warnings = findings.length - errors;
  if (errors > 0) return colors.red(formatCount(errors, 'error'));
  return warnings > 0 ? colors.yellow(formatCount(warnings, 'warning')) : colors.green('fine');
}

function describeFinding({ rule, level, message }: Finding): string {
  const paint = level === 'error' ? colors.red : colors.yellow;
  return `  ${paint(level)} ${rule}: ${toPrintable(message)}`;
}
