import { getErrorMessage } from '../../../base/errors.ts';
import { importOptional } from '../../../base/optional-packages.ts';
import { VERSION } from '../../../base/version.ts';
import type { Host } from '../../../host/create-host.ts';
import { runTool } from '../../../plugins/install/fetch/tools.ts';
import { type InstalledPlugin, listInstalled } from '../../../plugins/install/installed.ts';
import { findLeftovers } from '../../../plugins/install/staging-directory.ts';
import { listChangedFiles } from '../../../plugins/install/tree.ts';
import { type Command, type CommandContext, withHost } from '../../context.ts';
import { EXIT } from '../../exit-codes.ts';
import { collectPlugins, type ListedPlugin } from '../../plugins/select-plugins.ts';
import { type Inspected, inspectPlugin } from '../../plugins/inspect.ts';
import { createInstallTools, listPluginPlaces } from '../../plugins/install-tools.ts';
import { formatDuration, formatCount } from '../../output/print.ts';
import { type Finding, formatFindings } from '../doctor.ts';

/** `hookline plugin doctor`: whether plugins can work here, and what keeps them from it. */
export const examinePlugins: Command<{
  /** False with --no-load. */
  readonly load?: boolean;
}> = (context, { load = true }) =>
  withHost(
    context,
    async (host) => {
      const findings = [
        { about: 'hookline', level: 'fine', text: VERSION } as const,
        await checkLoader(),
        ...(await checkPrograms(context, host)),
        ...checkPlaces(host, createInstallTools(context, host).now()),
        ...listPluginPlaces(host).flatMap(listInstalled).flatMap(checkInstall),
        ...(await checkEach(context, host, load)),
      ];
      const problems = findings.filter(({ level }) => level === 'problem').length;
      if (context.flags.json === true) context.print.json({ version: VERSION, problems, findings });
      else context.print.out(formatFindings(findings));
      return problems === 0 ? EXIT.fine : EXIT.refused;
    },
    // Everything else that would be noted is a finding of `hookline doctor`.
    { onNotice: () => undefined },
  );

async function checkLoader(): Promise<Finding> {
  const about = 'loader';
  try {
    const { transformSync } = await importOptional(
      'loading plugins fast',
      () => import('oxc-transform'),
    );
    const { code } = transformSync('a.ts', 'const x: number = 1;');
    if (code !== '') return { about, level: 'fine', text: 'oxc-transform' };
    return {
      about,
      level: 'hint',
      text: 'oxc-transform does not transpile; the slower jiti is used instead',
    };
  } catch (error) {
    const text = `oxc-transform does not work here; the slower jiti is used instead: ${getErrorMessage(error)}`;
    return { about, level: 'hint', text };
  }
}

async function checkPrograms(context: CommandContext, host: Host): Promise<readonly Finding[]> {
  const tools = createInstallTools(context, host);
  const needs = {
    npm: 'npm packages and dependencies of plugins',
    git: 'repositories',
  };
  const findings: Finding[] = [];
  for (const [about, what] of Object.entries(needs)) {
    const program = tools.findProgram(about);
    if (program === null) {
      findings.push({ about, level: 'hint', text: `not on the PATH: needed to install ${what}` });
      continue;
    }
    const call = { file: program, args: ['--version'], cwd: host.startDirectory, env: tools.env };
    const { exitCode, stdout } = await runTool(call, tools);
    const version = stdout.text.trim().split('\n', 1)[0] ?? '';
    findings.push(
      exitCode === 0
        ? { about, level: 'fine', text: `${version} at ${program}` }
        : { about, level: 'hint', text: `${program} --version ends with exit code ${exitCode}` },
    );
  }
  return findings;
}

function checkPlaces(host: Host, now: number): readonly Finding[] {
  return listPluginPlaces(host).flatMap(({ directory }) =>
    findLeftovers(directory, now).map(({ directory: left, missing }): Finding => {
      const about = 'left behind';
      if (missing === null) {
        const text = `${left}, by an interrupted install; the next install removes it`;
        return { about, level: 'hint', text };
      }
      const text = `${missing} was being replaced and is now in ${left}; the next install restores it`;
      return { about, level: 'problem', text };
    }),
  );
}

/** Checks whether installed files have changed. */
function checkInstall(plugin: InstalledPlugin): readonly Finding[] {
  const { record, path: directory, name: about, isDroppedIn } = plugin;
  if (isDroppedIn) return [];
  if (record === null) {
    const text = `${directory} was installed by another program, so its original files are not known`;
    return [{ about, level: 'hint', text }];
  }
  const change = listChangedFiles(directory, record);
  if (change === null) return [];
  if (change.entries.length === 0) {
    return [
      { about, level: 'hint', text: `files of ${directory} have changed since it was installed` },
    ];
  }
  const text = `${change.entries.join(', ')} in ${directory}: differs from what was installed`;
  return [{ about, level: 'problem', text }];
}

/** An import that takes longer delays every session noticeably. */
const SLOW_MS = 500;

async function checkEach(
  context: CommandContext,
  host: Host,
  load: boolean,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const names: string[] = [];
  const all = collectPlugins(host);
  for (const plugin of all) {
    const mayLoad = load && plugin.status.state === 'ready';
    if (mayLoad) context.print.progress(`loading ${plugin.entry.label} …`);
    const inspected = mayLoad ? await inspectPlugin(plugin, host, context) : null;
    if (inspected?.state !== 'helper') names.push(inspected?.name ?? plugin.entry.label);
    findings.push(
      ...(inspected === null ? describeState(plugin) : describeLoaded(plugin, inspected)),
    );
  }
  context.print.progress(null);
  const found = `${formatCount(all.length, 'plugin')} in ${formatCount(listPluginPlaces(host).length, 'place')}`;
  return [{ about: 'found', level: 'fine', text: found }, ...findings, ...findRepeats(names)];
}

function describeState({ status: { hook, state, why } }: ListedPlugin): readonly Finding[] {
  const level = state === 'broken' ? 'problem' : 'hint';
  return state === 'ready' ? [] : [{ about: hook.id, level, text: `${state}: ${why}` }];
}

function describeLoaded(
  { status: { hook } }: ListedPlugin,
  inspected: Inspected,
): readonly Finding[] {
  const { state, why, issues, importMs } = inspected;
  const about = hook.id;
  const findings = issues.map(({ level, message }): Finding => ({
    about,
    level: level === 'error' ? 'problem' : 'hint',
    text: message,
  }));
  if (state === 'failed' && findings.every(({ level }) => level !== 'problem')) {
    findings.push({ about, level: 'problem', text: why ?? 'it cannot be set up' });
  }
  return importMs === null ? findings : [describeImportTime(about, importMs), ...findings];
}

function describeImportTime(about: string, importMs: number): Finding {
  const took = `imported in ${formatDuration(importMs)}`;
  return importMs > SLOW_MS
    ? { about, level: 'hint', text: `${took}: every session waits for it` }
    : { about, level: 'fine', text: took };
}

function findRepeats(names: readonly string[]): readonly Finding[] {
  const repeated = new Set(names.filter((name, at) => names.indexOf(name) !== at));
  return [...repeated].map((about) => ({
    about,
    level: 'hint',
    text: `${names.filter((name) => name === about).length} plugins have this name, and one of them is used`,
  }));
}
