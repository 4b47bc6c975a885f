import { HooklineError } from '../../base/errors.ts';
import { findRealPath } from '../../base/paths.ts';
import { DEFAULT_DIALECT, findDialect, listDialectsWith } from '../../dialects/index.ts';
import type { DiscoveredUnit } from '../../dialects/discovery.ts';
import { runEdit, openConfigFile } from '../../dialects/hooks-file.ts';
import type { HookExample, HookTemplates, NewHookPlan, Trial } from '../../dialects/templates.ts';
import { isSameFile, writeHookFile } from '../../dialects/write-hook-file.ts';
import type { Host } from '../../host/create-host.ts';
import { createMachine } from '../../host/dialect-machine.ts';
import type { ListedUnit } from '../../host/hook-set.ts';
import type { Binding } from '../../trust/bind-unit.ts';
import { toFileKey } from '../../trust/collect-unit.ts';
import { computeSha256, findSha256 } from '../../trust/file-map.ts';
import {
  type Command,
  type CommandContext,
  type GlobalFlags,
  rejectInsideSession,
  withHost,
} from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import {
  type PreservedTrust,
  formatTrustNotes,
  preserveTrust,
} from '../config-files/preserve-trust.ts';
import { HeldNotices } from '../output/held-notices.ts';
import { toOneLine } from '../output/print.ts';
import { quoteShellWord } from '../../base/text.ts';

export interface NewOptions {
  /** May be left out for a plugin. */
  readonly event?: string;
  readonly dialect?: string;
  readonly lang?: string;
  readonly matcher?: string;
  readonly global?: boolean;
  readonly force?: boolean;
}

/** `hookline hooks new EVENT`: writes an example that works at once. */
export const writeNewHook: Command<NewOptions> = async (context, options) => {
  rejectInsideSession(context, 'hooks new');
  const { dialect = DEFAULT_DIALECT, global: isGlobal = false, force, ...wanted } = options;
  const planHook = await findTemplates(dialect).load();
  const createPlan = planHook({ ...wanted, isGlobal });
  const notices = new HeldNotices(context.print);
  const write = () =>
    withHost(
      context,
      async (host) => {
        const units = host.hooks().map(({ hook }) => hook);
        const plan = await createPlan(createMachine(host), units);
        if (force !== true) refuseExisting(plan);
        reportNewHook(context, await writeHook(context, host, plan));
        return EXIT.fine;
      },
      // No hook runs here, and existing hooks must be found even where hooks are disabled.
      { flags: { 'hooks.enabled': true }, onNotice: notices.add },
    );
  return notices.run(write);
};

function findTemplates(dialect: string): HookTemplates {
  const templates = findDialect(dialect)?.templates;
  if (templates !== undefined) return templates;
  const dialects = listDialectsWith('templates');
  const flags = dialects.map((name) => `--dialect ${name}`);
  throw new HooklineError('USAGE_INVALID', {
    message: `--dialect should be one of ${dialects.join(', ')}, found ${JSON.stringify(dialect)}`,
    hint: `Use ${flags.slice(0, -1).join(', ')} or ${flags.at(-1)}; the default is ${DEFAULT_DIALECT}.`,
  });
}

function refuseExisting({ event, existing }: NewHookPlan): void {
  if (existing.length === 0) return;
  throw new HooklineError('HOOK_EXISTS', {
    message: `a hook for ${event} already exists: ${existing.map(toOneLine).join(', ')}`,
    hint: 'Edit it, or write the new one anyway with --force.',
  });
}

interface NewHook {
  readonly event: string;
  readonly example: HookExample;
  readonly language: string;
  readonly file: string;
  /** The file that configures it, for a hook that is more than its file. */
  readonly settings: string | null;
  /** Null when a switch keeps it from being found. */
  readonly hook: DiscoveredUnit | null;
  readonly isTrusted: boolean;
  readonly notes: readonly string[];
  /** The command that demonstrates it, where firing an event does not. */
  readonly tryIt: string | null;
}

async function writeHook(context: CommandContext, host: Host, plan: NewHookPlan): Promise<NewHook> {
  const { event, example, language, settings, file, isNewHook } = plan;
  const preserved = await preserveTrust(
    context,
    host,
    prepareWrite(host, plan),
    settings === null ? [] : [file.path],
    (hook, binding) => isNewHook(hook) && isTextBound(binding, plan),
  );
  const status = host.hooks().find(({ hook }) => isNewHook(hook));
  const { isTrusted, notes } =
    status === undefined ? describeUnseen(host, plan, preserved) : describeTrust(status, preserved);
  const foundPath = status?.hook.path ?? findRealPath(file.path) ?? file.path;
  return {
    event,
    example,
    language,
    file: settings === null ? foundPath : file.path,
    settings: settings?.file ?? null,
    hook: status?.hook ?? null,
    isTrusted,
    notes: [...notes, ...(settings === null ? [] : (status?.hook.notes ?? [])), ...plan.notes],
    tryIt: plan.tryIt?.(foundPath) ?? null,
  };
}

/** Edits the settings before anything is written: a script without an entry would be of no use. */
function prepareWrite(host: Host, { settings, file, isNewHook }: NewHookPlan): () => void {
  if (settings === null) return () => writeHookFile(file);
  const opened = openConfigFile(settings.file, settings.within);
  const isConfigured = host.hooks().some(({ hook }) => isNewHook(hook));
  const changed = isConfigured ? null : runEdit(settings.file, () => settings.addTo(opened.text));
  return () => {
    writeHookFile(file);
    if (changed !== null) opened.write(changed);
  };
}

/** Whether what is bound is the text that was written. */
function isTextBound({ root, entry, files }: Binding, { settings, file }: NewHookPlan): boolean {
  const bound = settings === null ? entry : (findRealPath(file.path) ?? file.path);
  return findSha256(files[toFileKey(root, bound)] ?? '') === computeSha256(file.text);
}

function describeUnseen(host: Host, plan: NewHookPlan, preserved: PreservedTrust) {
  const { settings, file, describeUnseen: describe } = plan;
  const configuringFile = settings?.file ?? file.path;
  const reasons = host.ignored().filter((each) => isSameFile(each.path, configuringFile));
  const note = describe(reasons.map(({ why }) => why));
  return { isTrusted: false, notes: [...formatTrustNotes(preserved), note] };
}

/** Describes whether the new hook may run, and why not. */
function describeTrust({ hook, why }: ListedUnit, preserved: PreservedTrust) {
  const isTrusted = hook.place !== 'workspace' || preserved.trusted.includes(hook);
  const isExplained = isTrusted || preserved.lost.includes(hook);
  const own = isExplained ? [] : [`not trusted: ${hook.id}: ${why}`];
  return { isTrusted, notes: [...formatTrustNotes(preserved), ...own] };
}

function reportNewHook({ flags, print }: CommandContext, newHook: NewHook): void {
  const {
    event,
    example,
    language: lang,
    file,
    settings,
    hook,
    isTrusted: trusted,
    notes,
  } = newHook;
  const trial =
    newHook.tryIt ?? formatTrialCommand({ event, trial: example.trial }, listWorkspaceFlags(flags));
  for (const note of notes) print.note(`note: ${toOneLine(note)}`);
  if (flags.json === true) {
    const configured = settings === null ? {} : { settings };
    print.json({
      path: file,
      ...configured,
      event,
      lang,
      id: hook?.id ?? null,
      trusted,
      try: trial,
    });
    return;
  }
  const { runs, does } = example;
  const line = hook === null ? '' : `:${hook.line}`;
  const entry = settings === null ? [] : [`configured in ${toOneLine(settings)}${line}`];
  print.out(
    [
      toOneLine(file),
      ...entry,
      `It runs ${runs}, and ${does}.`,
      `  try it:         ${trial}`,
      ...(hook?.place === 'workspace'
        ? [`  ${trusted ? 'after editing:' : 'to let it run:'}  hookline trust`]
        : []),
    ].join('\n'),
  );
}

/** The flags with which another command works in the same workspace. */
function listWorkspaceFlags({ cwd, root = [] }: GlobalFlags): readonly string[] {
  return [
    ...(cwd === undefined ? [] : ['--cwd', cwd]),
    ...root.flatMap((each) => ['--root', each]),
  ];
}

/** The command that makes an example do something visible; `flags` are further ones for it. */
export function formatTrialCommand(
  { event, trial }: { readonly event: string; readonly trial: Trial },
  flags: readonly string[],
): string {
  const own = Object.entries(trial.flags).flatMap(([name, value]) => [`--${name}`, value]);
  const hasFacts = Object.keys(trial.facts).length > 0;
  const words = ['hookline', 'hooks', 'fire', event, ...own, ...(hasFacts ? ['--facts', '-'] : [])];
  const fire = [...words, ...flags].map(quoteShellWord).join(' ');
  return [
    ...(hasFacts ? [`echo ${quoteShellWord(JSON.stringify(trial.facts))} | `] : []),
    fire,
    ...(trial.look === null ? [] : [` && ${trial.look}`]),
  ].join('');
}
