import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { colors } from '../output/colors.ts';
import { isHooklineError, getErrorMessage, tryOrNull } from '../../base/errors.ts';
import { isNotFoundError, readTextIfPresent } from '../../base/files.ts';
import { VERSION } from '../../base/version.ts';
import { DIALECTS, findDialect } from '../../dialects/index.ts';
import type { DiscoveredUnit } from '../../dialects/discovery.ts';
import type { Host } from '../../host/create-host.ts';
import { probeHostSandbox } from '../../host/sandbox/open-sandbox.ts';
import type { ListedUnit } from '../../host/hook-set.ts';
import { createProgramFinder, type FindProgram } from '../../process/program-finder.ts';
import { type Command, withHost } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { formatReviewHint, formatFoundCount } from '../output/describe-hooks.ts';
import { toOneLine, formatCount, formatTable } from '../output/print.ts';

export interface Finding {
  readonly about: string;
  /** A `problem` makes the command fail; a `hint` does not. */
  readonly level: 'fine' | 'hint' | 'problem';
  readonly text: string;
}

/** `hookline doctor`: checks whether hooks can work here. */
export const runDoctor: Command<object> = (context) => {
  const ownHookChanges: Finding[] = [];
  return withHost(
    context,
    async (host) => {
      const findings = [...(await checkAll(host)), ...ownHookChanges];
      const [problems, warnings] = (['problem', 'hint'] as const).map(
        (wanted) => findings.filter(({ level }) => level === wanted).length,
      );
      if (context.flags.json === true) {
        context.print.json({ version: VERSION, problems, warnings, findings });
      } else context.print.out(formatFindings(findings));
      return problems === 0 ? EXIT.fine : EXIT.refused;
    },
    {
      // Other notices are already findings.
      onNotice: () => undefined,
      onOwnHookNews: (text) => ownHookChanges.push({ about: 'own hooks', level: 'hint', text }),
    },
  );
};

async function checkAll(host: Host): Promise<Finding[]> {
  return [
    { about: 'hookline', level: 'fine', text: VERSION },
    { about: 'node', level: 'fine', text: `${process.version} at ${host.surroundings.nodePath}` },
    { about: 'workspace', level: 'fine', text: host.workspaceRoots.join(', ') },
    checkState(host),
    checkEnabled(host),
    ...host.config.problems.map((text): Finding => ({ about: 'config', level: 'problem', text })),
    checkTrust(host),
    await checkSandbox(host),
    ...checkHooks(host),
    ...checkSettings(host),
    ...checkPrograms(host),
    ...checkCommands(host),
    ...(await examineScripts(host)),
    await checkModel(host),
  ];
}

function checkState({ stateDirectory }: Host): Finding {
  const about = 'state';
  if (stateDirectory === null) {
    return {
      about,
      level: 'problem',
      text: 'no home directory: nothing can be trusted; set HOME or HOOKLINE_HOME',
    };
  }
  try {
    const stats = statSync(stateDirectory);
    if (!stats.isDirectory()) {
      return { about, level: 'problem', text: `${stateDirectory} is not a directory` };
    }
    accessSync(stateDirectory, constants.W_OK);
    const isOpen = (stats.mode & 0o077) !== 0;
    if (!isOpen) return { about, level: 'fine', text: stateDirectory };
    return { about, level: 'hint', text: `${stateDirectory} is readable by others: run chmod 700` };
  } catch (error) {
    if (isNotFoundError(error)) return checkFutureState(stateDirectory);
    return {
      about,
      level: 'problem',
      text: `${stateDirectory} cannot be written: ${getErrorMessage(error)}`,
    };
  }
}

function checkFutureState(stateDirectory: string): Finding {
  const about = 'state';
  try {
    accessSync(path.dirname(stateDirectory), constants.W_OK);
  } catch (error) {
    const text = `${stateDirectory} cannot be created: ${getErrorMessage(error)}`;
    if (!isNotFoundError(error)) return { about, level: 'problem', text };
  }
  return { about, level: 'fine', text: `${stateDirectory} (created when needed)` };
}

function checkEnabled({ config }: Host): Finding {
  if (config.settings['hooks.enabled']) {
    return { about: 'hooks', level: 'fine', text: 'enabled' };
  }
  const origin = config.origins['hooks.enabled'] ?? 'the configuration';
  return { about: 'hooks', level: 'problem', text: `disabled by ${origin}` };
}

function checkTrust({ trust }: Host): Finding {
  const about = 'trust';
  if (isHooklineError(trust.record)) return { about, level: 'problem', text: trust.record.message };
  const [notice] = trust.notices;
  if (notice !== undefined) return { about, level: 'problem', text: notice };
  return { about, level: 'fine', text: formatCount(trust.record.entries.length, 'trusted hook') };
}

async function checkSandbox(host: Host): Promise<Finding> {
  const about = 'sandbox';
  const { mode, requiredBy } = host.sandboxMode();
  const probe = await probeHostSandbox(host);
  if (!probe.works) {
    const required =
      requiredBy === null ? null : `"sandbox.enabled" in ${requiredBy} is true, and none works:`;
    const text = [required, probe.why, probe.hint].filter((each) => each !== null).join(' ');
    return { about, level: mode === 'on' ? 'problem' : 'hint', text };
  }
  if (mode === 'off') {
    const origin = host.config.origins['sandbox.mode'] ?? 'the configuration';
    return { about, level: 'hint', text: `works, and is switched off by ${origin}` };
  }
  const from = requiredBy === null ? '' : `, required by ${requiredBy}`;
  const text = `${probe.launcher} at ${probe.file} (mode ${mode}${from})`;
  return { about, level: 'fine', text };
}

function checkHooks(host: Host): Finding[] {
  const hooks = host.hooks();
  const found = hooks.flatMap(({ hook, state, why }): Finding[] => {
    const level = state === 'broken' ? 'problem' : 'hint';
    const standing: Finding[] =
      state === 'ready' ? [] : [{ about: hook.id, level, text: `${state}: ${why}` }];
    return [
      ...standing,
      ...hook.notes.map((text): Finding => ({ about: hook.id, level: 'hint', text })),
    ];
  });
  const ready = hooks.filter(({ state }) => state === 'ready').length;
  const count = formatFoundCount(hooks.map(({ found }) => found));
  const summary = `${count} found, ${ready} ready, ${formatCount(host.ignored().length, 'file')} ignored`;
  const hidingFindings = host
    .ignored()
    .filter(({ mayHideHook }) => mayHideHook)
    .map(({ path: place, why }): Finding => ({ about: place, level: 'problem', text: why }));
  return [
    { about: 'found', level: 'fine', text: summary },
    ...found,
    ...hidingFindings,
    ...listHints(hooks),
  ];
}

function listHints(hooks: readonly ListedUnit[]): Finding[] {
  const waiting = hooks.filter(({ state }) => state === 'untrusted' || state === 'modified');
  const text = formatReviewHint(waiting.map(({ found }) => found));
  return text === null ? [] : [{ about: 'trust', level: 'hint', text }];
}

/** The files that configure hooks, and what in them is not used. */
function checkSettings(host: Host): Finding[] {
  const counts = new Map<string, number>();
  for (const { hook } of host.hooks()) {
    if (hook.line !== null) counts.set(hook.path, (counts.get(hook.path) ?? 0) + 1);
  }
  const found = [...counts].map(([file, count]): Finding => ({
    about: 'settings',
    level: 'fine',
    text: `${file}: ${formatCount(count, 'hook')}`,
  }));
  // Entries that may hide a hook are already reported.
  const unused = host
    .ignored()
    .filter(({ path: file, mayHideHook }) => mayHideHook !== true && isSettingsFile(file))
    .map(({ path: file, why }): Finding => ({ about: file, level: 'hint', text: why }));
  return [...found, ...unused];
}

function isSettingsFile(file: string): boolean {
  return DIALECTS.some(({ ownPaths }) => ownPaths?.settings?.includes(path.basename(file)));
}

const PROGRAMS = ['bash', 'jq', 'python3', 'bun', 'git'];

/** Hookline itself needs none of these, but many hooks do. */
function checkPrograms(host: Host): Finding[] {
  const { surroundings } = host;
  const find: FindProgram = createProgramFinder(surroundings.env['PATH'], surroundings.platform);
  const missing = PROGRAMS.filter((name) => find(name) === null);
  const present = PROGRAMS.filter((name) => !missing.includes(name)).join(', ');
  const absent =
    missing.length === 0 ? '' : `not on the PATH, and only needed by hooks: ${missing.join(', ')}`;
  const text = [present, absent].filter((part) => part !== '').join('; ');
  return [{ about: 'programs', level: 'fine', text }, ...checkProgramUses(host, missing)];
}

/** Hooks whose text names a missing program. */
function checkProgramUses(host: Host, missing: readonly string[]): Finding[] {
  return host.hooks().flatMap(({ hook }): Finding[] => {
    const missingPrograms = findNamedPrograms(hook, missing);
    if (missingPrograms.length === 0) return [];
    const text = `names ${missingPrograms.join(' and ')}, which ${missingPrograms.length === 1 ? 'is' : 'are'} not on the PATH`;
    return [{ about: hook.id, level: 'hint', text }];
  });
}

/** The program that each command starts: whether it exists, and may be run. */
function checkCommands(host: Host): Finding[] {
  const { surroundings, startDirectory } = host;
  const find = createProgramFinder(surroundings.env['PATH'], surroundings.platform);
  return host.hooks().flatMap(({ hook }): Finding[] => {
    const { type, runs = '' } = hook.details;
    const program = type === 'command' ? findStartedProgram(runs) : null;
    if (program === null) return [];
    const text = program.includes('/')
      ? explainUnusableFile(path.resolve(hook.root ?? startDirectory, program))
      : explainMissingProgram(program, find);
    return text === null ? [] : [{ about: hook.id, level: 'hint', text }];
  });
}

/** Builtins and keywords of shells, and what other shells than this machine's may have. */
const BUILTINS =
  /^(?:\.|:|\[|\[\[|\{|\(|!|alias|break|case|cd|command|continue|declare|echo|eval|exec|exit|export|false|for|function|if|kill|local|printf|pwd|read|return|set|shift|source|test|time|trap|true|type|ulimit|umask|unset|until|wait|while)$/;

/** Finds the first word of a command; null when the shell replaces a part of it. */
function findStartedProgram(command: string): string | null {
  const [, quoted, plain] =
    /^\s*(?:\w+=\S*\s+)*(?:"([^"]+)"|([^\s"'|&;<>()]+))/.exec(command) ?? [];
  const word = (quoted ?? plain ?? '').replace(/^\$\{?CLAUDE_PROJECT_DIR\}?\//, './');
  return word === '' || /[$`*?~]/.test(word) || BUILTINS.test(word) ? null : word;
}

function explainUnusableFile(file: string): string | null {
  const stats = tryOrNull(() => statSync(file));
  if (stats === null) return `starts ${file}, which does not exist or cannot be read`;
  return (stats.mode & 0o111) !== 0
    ? null
    : `starts ${file}, which is not executable: run chmod +x`;
}

function explainMissingProgram(program: string, find: FindProgram): string | null {
  // A missing one of the usual programs is already reported.
  if (PROGRAMS.includes(program) || find(program) !== null) return null;
  return `starts ${program}, which is not on the PATH`;
}

/** Hooks work without a model; sessions do not. */
async function checkModel({ config, surroundings }: Host): Promise<Finding> {
  const about = 'model';
  const { settings } = config;
  const provider = settings['model.provider'];
  const { checkModelChoice } = await import('../../agent/models/providers.ts');
  const readSetting = (value: string): string | null => (value === '' ? null : value);
  try {
    checkModelChoice({
      provider,
      model: readSetting(settings['model.id']),
      baseUrl: readSetting(settings['model.baseUrl']),
      key: readSetting(settings['model.key']),
      env: surroundings.env,
    });
    return { about, level: 'fine', text: `${provider}, with a key or without need of one` };
  } catch (error) {
    if (!isHooklineError(error)) throw error;
    const text = error.hint === undefined ? error.message : `${error.message}. ${error.hint}`;
    return { about, level: 'hint', text };
  }
}

/** Mistakes in scripts that a dialect knows of; those in commands are among their notes. */
async function examineScripts(host: Host): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const { hook } of host.hooks()) {
    const check = await findDialect(hook.dialect)?.checkScript?.();
    const problems = check?.(readScripts(hook), hook.eventName) ?? [];
    found.push(...problems.map((text): Finding => ({ about: hook.id, level: 'hint', text })));
  }
  return found;
}

function readScripts({ path: file, binds }: DiscoveredUnit): string {
  const scripts = binds.text === undefined ? [file] : binds.files;
  return scripts.map(readTextOrEmpty).join('\n');
}

function findNamedPrograms(hook: DiscoveredUnit, programs: readonly string[]): string[] {
  const text = [hook.binds.text ?? '', readScripts(hook)].join('\n');
  return programs.filter((name) => new RegExp(`(?<![\\w.-])${name}(?![\\w-])`).test(text));
}

function readTextOrEmpty(file: string): string {
  try {
    return readTextIfPresent(file) ?? '';
  } catch {
    // An unreadable script is reported elsewhere.
    return '';
  }
}

export function formatFindings(findings: readonly Finding[]): string {
  const marks = { fine: colors.green('✓'), hint: colors.yellow('!'), problem: colors.red('✗') };
  const rows = findings.map(({ about, level, text }) => [
    `${marks[level]} ${toOneLine(about)}`,
    toOneLine(text),
  ]);
  return `${formatTable(rows)}\n\n${formatSummary(findings)}`;
}

/** A warning is never followed by the words that nothing is wrong. */
function formatSummary(findings: readonly Finding[]): string {
  const counts = [
    { level: 'problem', name: 'problem' },
    { level: 'hint', name: 'warning' },
  ].flatMap(({ level, name }) => {
    const count = findings.filter((each) => each.level === level).length;
    return count === 0 ? [] : [formatCount(count, name)];
  });
  return counts.length === 0 ? 'No problems found.' : `${counts.join(', ')} found.`;
}
