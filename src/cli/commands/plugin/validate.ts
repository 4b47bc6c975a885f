import type { Command } from '../../context.ts';
import { EXIT } from '../../exit-codes.ts';
import type { FoundPlugin } from '../../plugins/found.ts';
import { type Inspected, inspectPlugin } from '../../plugins/inspect.ts';
import { type Looking, whyNotLoaded, withNamedPlugins } from '../../plugins/named-plugin.ts';
import { colors } from '../../output/colors.ts';
import { formatContributions } from '../../output/format-plugin.ts';
import { toOneLine, formatCount, toPrintable } from '../../output/print.ts';

export interface ValidateOptions {
  /** A path, or the name of one that is found here. */
  readonly plugin: string;
  readonly yes?: boolean;
}

/** `hookline plugin validate PLUGIN`: its package, its manifest, and what its setup registers. */
export const validate: Command<ValidateOptions> = (context, { plugin: wanted, yes = false }) =>
  withNamedPlugins(context, wanted, async (plugins, host) => {
    const reports: Report[] = [];
    for (const plugin of plugins) reports.push(await check(plugin, { host, context, yes }));
    const isFine = reports.every((report) => isSound(report, context.flags.strict === true));
    if (context.flags.json === true) context.print.json({ valid: isFine, plugins: reports });
    else for (const report of reports) context.print.out(readable(report));
    return isFine ? EXIT.fine : EXIT.refused;
  });

interface Finding {
  /** What was looked at: `validate`, `import`, `setup` … */
  readonly rule: string;
  readonly level: 'error' | 'warning';
  readonly message: string;
}

interface Report {
  readonly name: string;
  readonly path: string;
  readonly findings: readonly Finding[];
  readonly contributes: Inspected['contributes'];
  readonly hooks: readonly string[];
  /** Which providers and models it is made for; empty when for all. */
  readonly madeFor: readonly string[];
}

async function check(plugin: FoundPlugin, looking: Looking): Promise<Report> {
  const { entry, status } = plugin;
  const { host, context } = looking;
  const about = { name: entry.label, path: status.hook.path };
  const nothing = { ...about, contributes: null, hooks: [], madeFor: [] };
  const { problem } = status.hook;
  if (problem !== null) return { ...nothing, findings: [error('package', problem)] };
  const withheld = await whyNotLoaded(plugin, looking);
  if (withheld !== null) {
    return { ...nothing, findings: [error('trust', `not loaded: ${withheld}`)] };
  }
  const inspected = await inspectPlugin(plugin, host, context);
  const { name, contributes, hooks, madeFor } = inspected;
  return { ...about, name, contributes, hooks, madeFor, findings: findingsOf(inspected) };
}

function error(rule: string, message: string): Finding {
  return { rule, level: 'error', message };
}

function findingsOf({ state, why, issues }: Inspected): readonly Finding[] {
  const told = issues.map(({ phase, level, message }) => ({ rule: phase, level, message }));
  const isTold = told.some(({ level, message }) => level === 'error' && message === why);
  // It is sound, and only not for the model that is used here.
  if (state === 'ready' || state === 'skipped' || isTold) return told;
  if (state === 'disabled') {
    return [...told, { rule: 'validate', level: 'warning', message: 'it says `disabled: true`' }];
  }
  return [...told, error(why === null ? 'setup' : 'import', why ?? 'its setup failed')];
}

function isSound({ findings }: Report, isStrict: boolean): boolean {
  return !findings.some(({ level }) => level === 'error' || isStrict);
}

function readable({ name, path, findings, contributes, hooks, madeFor }: Report): string {
  const brought = [
    formatContributions(contributes),
    hooks.length === 0 ? '' : `hooks: ${hooks.map(toOneLine).join(', ')}`,
    madeFor.length === 0 ? '' : `only for ${madeFor.map(toOneLine).join(', ')}`,
  ].filter((each) => each !== '');
  return [
    `${colors.bold(toOneLine(name))}  ${verdict(findings)}`,
    colors.dim(`  ${toOneLine(path)}`),
    ...brought.map((each) => `  ${each}`),
    ...findings.map(describeFinding),
  ].join('\n');
}

function verdict(findings: readonly Finding[]): string {
  const errors = findings.filter(({ level }) => level === 'error').length;
  const warnings = findings.length - errors;
  if (errors > 0) return colors.red(formatCount(errors, 'error'));
  return warnings > 0 ? colors.yellow(formatCount(warnings, 'warning')) : colors.green('fine');
}

function describeFinding({ rule, level, message }: Finding): string {
  const paint = level === 'error' ? colors.red : colors.yellow;
  return `  ${paint(level)} ${rule}: ${toPrintable(message)}`;
}
