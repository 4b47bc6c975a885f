import { createTwoFilesPatch } from 'diff';
import { colors } from '../output/colors.ts';
import { dropUndefined } from '../../base/defined.ts';
import { HooklineError, isHooklineError } from '../../base/errors.ts';
import { systemClock } from '../../base/clock.ts';
import { isFile } from '../../base/files.ts';
import { parseJson } from '../../base/json.ts';
import { findRealPath } from '../../base/paths.ts';
import { quoteShellWord } from '../../base/text.ts';
import type { Discovered, DiscoveredUnit } from '../../dialects/discovery.ts';
import type { Host } from '../../host/create-host.ts';
import { type ListedUnit, toTrustUnit } from '../../host/hook-set.ts';
import { type Binding, bindUnit } from '../../trust/bind-unit.ts';
import { listBoundPaths, ENTRY_TEXT_KEY, type FileMap } from '../../trust/file-map.ts';
import {
  computeChangesSince,
  decodeForReview,
  type FileChange,
  readBoundBytes,
} from '../../trust/content-store.ts';
import { isCompiled } from '../../trust/follow-references.ts';
import type { TrustFiles } from '../../trust/record-seal.ts';
import {
  type Confirmation,
  type TrustedEntry,
  getTrustObjectsDirectory,
  grantTrust,
  revokeTrust,
  sealRecord,
} from '../../trust/trust-record.ts';
import {
  canAsk,
  confirm,
  type Command,
  type CommandContext,
  rejectInsideSession,
  withHost,
} from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { selectHooks } from '../select-hooks.ts';
import {
  checkTrustToken,
  createConfirmation,
  issueTrustToken,
  requireTerminalOrToken,
} from '../trust-confirmation.ts';
import { findUncovered, formatFoundCount, listUncoveredNames } from '../output/describe-hooks.ts';
import { indent, toOneLine, formatCount, toPrintable } from '../output/print.ts';

/** `hookline trust`: shows what would run and what changed, then records the exact bytes. */
export const trustHooks: Command<{
  readonly ids: readonly string[];
  readonly yes?: boolean;
  /** True without a value: then a token is printed. */
  readonly token?: string | true;
}> = (context, { ids, yes, token }) => {
  rejectInsideSession(context, 'trust');
  checkTokenUsage(context, yes === true, token);
  return withHost(context, (host) =>
    token === true
      ? printToken(host, context, ids)
      : trustHooksIn(host, context, ids, { yes: yes === true, ...dropUndefined({ token }) }),
  );
};

function checkTokenUsage(context: CommandContext, yes: boolean, token?: string | true): void {
  if (typeof token === 'string' && !yes) {
    throw new HooklineError('USAGE_INVALID', {
      message: '--token TOKEN needs --yes',
      hint: 'Pass `--yes --token TOKEN`; to print a token for some ids, put --token after them.',
    });
  }
  if (token !== true) return;
  if (yes) {
    throw new HooklineError('USAGE_INVALID', {
      message: '--yes needs the token: --token TOKEN',
      hint: 'Print one with `hookline trust --token` on a terminal.',
    });
  }
  if (canAsk(context)) return;
  throw new HooklineError('TRUST_NEEDS_TERMINAL', {
    message: '`hookline trust --token` prints a token on a terminal only',
    hint: 'Run it on a terminal, and pass the token to the script.',
  });
}

/** Shows what waits, as `trust` does, and prints a token instead of asking. */
async function printToken(
  host: Host,
  context: CommandContext,
  ids: readonly string[],
): Promise<ExitCode> {
  const waiting = await showWaiting(host, context, ids);
  if (waiting === null) return EXIT.fine;
  const files = requireTrustFiles(host);
  const bindings = waiting.hooks.map(({ binding }) => binding);
  const token = await issueTrustToken(files, bindings, host.trust.guardedRoots);
  if (context.flags.json === true) context.print.json({ token });
  else {
    context.print.out(
      `Valid for ten minutes, for exactly what is shown above:\n\n  hookline ${formatTokenCommand(ids, token)}\n`,
    );
  }
  return waiting.problems.length === 0 ? EXIT.fine : EXIT.refused;
}

function formatTokenCommand(ids: readonly string[], token: string): string {
  return ['trust', ...ids, '--yes', '--token', token].map(quoteShellWord).join(' ');
}

/** The same for an open host, which may know further directories. */
export async function trustHooksIn(
  host: Host,
  context: CommandContext,
  ids: readonly string[],
  consent: Consent = { yes: false },
): Promise<ExitCode> {
  rejectInsideSession(context, 'trust');
  const waiting = await showWaiting(host, context, ids);
  if (waiting === null) return EXIT.fine;
  const { hooks, problems } = waiting;
  const bindings = hooks.map(({ binding }) => binding);
  const how = await confirmTrust(host, context, hooks, consent);
  if (how === null) {
    context.print.note('Nothing was trusted.');
    return EXIT.refused;
  }
  // Trusts the bytes that were shown, not those on disk by now.
  await grantTrust(requireTrustFiles(host), bindings, {
    now: systemClock.now(),
    guardedRoots: host.trust.guardedRoots,
    confirmed: createConfirmation(context, how),
  });
  reportTrusted(context, hooks, host);
  return problems.length === 0 ? EXIT.fine : EXIT.refused;
}

/** What the command line says about the user's decision. */
interface Consent {
  readonly yes: boolean;
  readonly token?: string;
}

/** Shows what waits for a decision, and what an unsealed record held; null when nothing waits. */
async function showWaiting(host: Host, context: CommandContext, ids: readonly string[]) {
  await showUnsealedRecord(host, context);
  const waiting = selectHooks(host, ids).filter(isWaiting);
  if (waiting.length === 0) {
    reportNothing(context, host);
    return null;
  }
  const { hooks, problems } = bindAll(waiting);
  if (hooks.length === 0 && problems[0] !== undefined) throw problems[0];
  for (const { message } of problems) {
    context.print.note(`cannot be trusted: ${toPrintable(message)}`);
  }
  if (context.flags.json !== true) {
    for (const each of hooks) context.print.out(formatHook(each, host));
  }
  return { hooks, problems };
}

/** Lists what a record without a valid seal held, and seals it with nothing trusted, so that it is said once. */
async function showUnsealedRecord({ trust }: Host, { print }: CommandContext): Promise<void> {
  const { files, record, guardedRoots } = trust;
  if (files === null || isHooklineError(record) || record.sealProblem === null) return;
  const held = record.unconfirmed;
  await sealRecord(files, guardedRoots);
  if (held.length === 0) return;
  const lines = held
    .slice(0, MAX_NAMES)
    .map(
      ({ root, id, trustedAt }) =>
        `  ${toOneLine(root)}  ${toOneLine(id)}  ${toOneLine(trustedAt)}`,
    );
  const rest = held.length - lines.length;
  const more = rest > 0 ? [`  and ${rest} more`] : [];
  const head =
    'The trust record had no valid seal. It held these, to be confirmed again in their workspaces:';
  print.note([head, ...lines, ...more].join('\n'));
}

/** How the user confirmed it; null when they did not. */
async function confirmTrust(
  host: Host,
  context: CommandContext,
  hooks: readonly BoundHook[],
  { yes, token }: Consent,
): Promise<Confirmation['how'] | null> {
  if (token !== undefined) {
    const bindings = hooks.map(({ binding }) => binding);
    checkTrustToken(requireTrustFiles(host), token, bindings);
    return 'token';
  }
  if (yes) {
    requireTerminalOrToken(host, context);
    return 'yes';
  }
  const text = `Trust ${formatSubject(hooks)}?`;
  return (await confirm(context, { text, flag: '--yes' })) ? 'asked' : null;
}

function formatSubject(bound: readonly BoundHook[]): string {
  const count = (kind: Discovered['kind']): number =>
    bound.filter(({ status }) => status.found.kind === kind).length;
  const settings = count('permissions');
  const servers = count('mcpServer');
  const plugins = count('plugin');
  const includes = count('include');
  const hooks = count('hook');
  return [
    ...(hooks === 0 ? [] : [`${formatCount(hooks, 'hook')} to run with your permissions`]),
    ...(plugins === 0
      ? []
      : [`${formatCount(plugins, 'plugin')} to be loaded into the agent with every session`]),
    ...(servers === 0 ? [] : [`${formatCount(servers, 'MCP server')} to start with every session`]),
    ...(settings === 0 ? [] : [`permissions from ${formatCount(settings, 'settings file')}`]),
    ...(includes === 0
      ? []
      : [`${formatCount(includes, 'path')} outside the workspace to be shown to the model`]),
  ].join(', and ');
}

type BoundHook = ReturnType<typeof bindHook>;

function bindHook(status: ListedUnit) {
  return { status, binding: bindUnit(toTrustUnit(status.hook)) };
}

function isWaiting({ hook, trustedBy }: ListedUnit): boolean {
  return hook.place === 'workspace' && trustedBy === null;
}

/** `problems` are about hooks that cannot be trusted; they do not block the rest. */
function bindAll(waiting: readonly ListedUnit[]) {
  const hooks: BoundHook[] = [];
  const problems: HooklineError[] = [];
  for (const status of waiting) {
    try {
      hooks.push(bindHook(status));
    } catch (error) {
      if (!isHooklineError(error)) throw error;
      problems.push(error);
    }
  }
  return { hooks, problems };
}

export function requireTrustFiles({ trust }: Host): TrustFiles {
  if (trust.files !== null && !isHooklineError(trust.record)) return trust.files;
  throw isHooklineError(trust.record)
    ? trust.record
    : new HooklineError('TRUST_RECORD_INVALID', {
        message: 'no home directory for the trust record',
      });
}

function reportNothing(context: CommandContext, host: Host): void {
  const hooks = host
    .hooks()
    .flatMap(({ hook, found }) => (hook.place === 'workspace' ? [found] : []));
  if (context.flags.json === true) context.print.json({ trusted: [] });
  else {
    context.print.out(hooks.length === 0 ? formatNothingFound(host) : formatAllTrusted(hooks));
  }
}

function formatNothingFound(host: Host): string {
  const hasIgnored = host.ignored().some(({ isQuiet }) => isQuiet !== true);
  const more = hasIgnored ? ' Run `hookline hooks list` for ignored files.' : '';
  return `No hooks to trust in this workspace.${more}`;
}

function formatAllTrusted(hooks: readonly Discovered[]): string {
  return `${formatFoundCount(hooks)} already trusted.`;
}

function reportTrusted(
  { flags, print }: CommandContext,
  hooks: readonly BoundHook[],
  { trust }: Host,
): void {
  const trusted = hooks.map(({ status, binding }) => ({
    id: status.hook.id,
    path: status.hook.path,
    digest: binding.digest,
    files: listBoundPaths(binding.files),
    notBound: [...binding.unbound, ...listUncoveredNames(findUncovered(status, trust))],
  }));
  if (flags.json === true) print.json({ trusted });
  else {
    const count = formatFoundCount(hooks.map(({ status }) => status.found));
    print.out(`Trusted ${count}. Any change requires a new review.`);
  }
}

function formatHook({ status, binding }: BoundHook, host: Host): string {
  const { hook, found, state, why } = status;
  const notBound = [...binding.unbound, ...listUncoveredNames(findUncovered(status, host.trust))];
  return [
    `${colors.bold(toOneLine(hook.id))}  ${colors.yellow(state)}: ${toPrintable(why)}`,
    `  file      ${toOneLine(hook.path)}${hook.line === null ? '' : `:${hook.line}`}`,
    ...describeEffect(status),
    ...(hook.problem === null ? [] : [`  problem   ${toPrintable(hook.problem)}`]),
    ...hook.notes.map((note) => `  note      ${toPrintable(note)}`),
    `  binds     ${formatBound(binding.files)}`,
    `  not bound ${notBound.length === 0 ? describeUncovered(found) : notBound.map(toOneLine).join(', ')}`,
    indent(
      state === 'modified' ? formatChanges(status, binding, host) : formatExcerpts(hook, binding),
      '  ',
    ),
    '',
  ].join('\n');
}

function describeEffect({ hook, found }: ListedUnit): readonly string[] {
  switch (found.kind) {
    case 'permissions':
      return ['  allows    calls of the agent without asking you'];
    case 'mcpServer':
      return ['  starts    with every session, as an MCP server'];
    case 'hook':
      return [`  runs at   ${hook.eventName}`];
    case 'include':
      return [`  shows     ${toOneLine(found.target)} to the model`];
    case 'plugin': {
      const { capabilities } = found.entry;
      return [
        '  plugin    is loaded into the agent with every session',
        ...(capabilities === null ? [] : [`  declares  ${capabilities.join(', ')}`]),
      ];
    }
  }
}

function describeUncovered({ kind }: Discovered): string {
  if (kind === 'include') return 'the content of the file: it is shown as it is then';
  return kind === 'permissions'
    ? 'the effects of the commands it allows'
    : 'anything else it starts or loads';
}

const MAX_ABSENT_NAMES = 3;

/** An import without extension may resolve to several files; the missing ones are bound as absent. */
function formatBound(files: FileMap): string {
  const isThere = (key: string): boolean => files[key] !== 'absent';
  const keys = listBoundPaths(files);
  const there = keys.filter(isThere);
  const absent = keys.length - there.length;
  if (absent <= MAX_ABSENT_NAMES) return formatBoundNames(keys);
  return `${formatBoundNames(there)}, and that ${absent} other paths it may load from stay absent`;
}

const MAX_NAMES = 40;

/** A package may contain thousands of files; the JSON output lists all of them. */
function formatBoundNames(keys: readonly string[]): string {
  const rest = keys.length - MAX_NAMES;
  const names = keys.slice(0, MAX_NAMES).map(formatBoundName).join(', ');
  return rest > 0 ? `${names} and ${formatCount(rest, 'more file')}` : names;
}

function formatBoundName(key: string): string {
  return key === ENTRY_TEXT_KEY ? 'this entry' : toOneLine(key);
}

/**
 * The hook's file, or its entry and scripts. Secrets are shown, because the user trusts exactly these
 * bytes.
 */
function formatExcerpts({ path, binds }: DiscoveredUnit, binding: Binding): string {
  if (binds.text === undefined) return formatFile(path, binding);
  const entry = formatExcerpt(formatEntry(binds.text));
  const scripts = binds.files
    .filter(isFile)
    .flatMap((file) => [toOneLine(file), formatFile(file, binding)]);
  return [entry, ...scripts].join('\n');
}

function formatEntry(text: string): string {
  const parsed = parseJson(text);
  return parsed.ok ? JSON.stringify(parsed.value, null, 2) : text;
}

/** Shows the bound bytes only: what the file has by now is not what would be trusted. */
function formatFile(file: string, binding: Binding): string {
  const bytes = readBoundBytes(binding, findRealPath(file) ?? file);
  if (bytes === null) return colors.dim('(not shown: not bound, or changed just now)');
  if (isCompiled(bytes)) return colors.dim(`(binary, ${bytes.length} bytes)`);
  return formatExcerpt(decodeForReview(bytes));
}

const FIRST_LINES = 300;
const LAST_LINES = 100;

/** Of a long text the beginning and the end, and how much is missing between them. */
function formatExcerpt(text: string): string {
  const lines = text.trimEnd().split('\n');
  const rest = lines.length - FIRST_LINES - LAST_LINES;
  const format = (line: string): string => colors.dim('│ ') + toPrintable(line);
  if (rest <= 0) return lines.map(format).join('\n');
  return [
    ...lines.slice(0, FIRST_LINES).map(format),
    colors.yellow(
      `│ … ${rest} more lines are not shown: read them in the file before you trust it`,
    ),
    ...lines.slice(-LAST_LINES).map(format),
  ].join('\n');
}

function formatChanges({ hook }: ListedUnit, binding: Binding, host: Host): string {
  const trusted = findTrustedEntry(host, hook.ownId, hook.root);
  if (trusted === null) return formatExcerpts(hook, binding);
  const directory = getTrustObjectsDirectory(requireTrustFiles(host).record);
  return computeChangesSince(trusted, binding, directory).map(formatChange).join('\n');
}

function findTrustedEntry({ trust }: Host, id: string, root: string | null): TrustedEntry | null {
  if (isHooklineError(trust.record)) return null;
  return trust.record.entries.find((entry) => entry.id === id && entry.root === root) ?? null;
}

function formatChange({ path, kind, before, after }: FileChange): string {
  const head = `${kind}: ${formatBoundName(path)}`;
  if (before === null && after === null) {
    return `${head} (not shown: compiled, too large, changed just now, or its old text is lost)`;
  }
  const patch = createTwoFilesPatch(path, path, before ?? '', after ?? '', 'trusted', 'now');
  return [head, ...patch.trimEnd().split('\n').slice(2).map(colorLine)].join('\n');
}

function colorLine(line: string): string {
  if (line.startsWith('+')) return colors.green(toPrintable(line));
  return line.startsWith('-') ? colors.red(toPrintable(line)) : toPrintable(line);
}

/** `hookline untrust`: revokes trust in these hooks, or in all of the workspace. */
export const untrustHooks: Command<{
  readonly ids: readonly string[];
}> = (context, { ids }) => {
  rejectInsideSession(context, 'untrust');
  return withHost(context, async (host) => {
    const files = requireTrustFiles(host);
    const chosen = selectHooks(host, ids);
    const before = countEntries(host.trust.record);
    let after = before;
    for (const root of host.workspaceRoots) {
      // Without ids, also revokes trust in hooks that no longer exist.
      const idsField = ids.length === 0 ? {} : { ids: listOwnIds(root, chosen) };
      const { guardedRoots } = host.trust;
      const record = await revokeTrust(files, { root, guardedRoots, ...idsField });
      after = countEntries(record);
    }
    const forgotten = before - after;
    if (context.flags.json === true) context.print.json({ forgotten });
    else context.print.out(`Revoked trust in ${formatCount(forgotten, 'hook')}.`);
    return EXIT.fine;
  });
};

/** Own ids are unique per root only. */
function listOwnIds(root: string, chosen: readonly ListedUnit[]): readonly string[] {
  return chosen.filter(({ hook }) => hook.root === root).map(({ hook }) => hook.ownId);
}

function countEntries(record: object): number {
  return 'entries' in record && Array.isArray(record.entries) ? record.entries.length : 0;
}
