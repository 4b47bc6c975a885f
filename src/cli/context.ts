import type { Readable } from 'node:stream';
import { dropUndefined } from '../base/defined.ts';
import { HooklineError, isHooklineError } from '../base/errors.ts';
import type { NamedPaths } from '../dialects/options.ts';
import type { DecodedExchange } from '../trace/exchange.ts';
import { createHost, type Host, type HostOptions } from '../host/create-host.ts';
import { SESSION_MARKER } from '../host/hook-set.ts';
import type { Settings } from '../host/settings.ts';
import { getStateDirectory, readSurroundings } from '../host/surroundings.ts';
import { findClaimAbove } from '../trust/claims.ts';
import { listUnannounced } from '../trust/trust-record.ts';
import { createHookProgress } from './output/hook-progress.ts';
import type { ExitCode } from './exit-codes.ts';
import { type Printer, toPrintable, redirectStdout } from './output/print.ts';
import { isatty } from 'node:tty';
import type { PluginOptions } from '../host/plugins/plugin-options.ts';

/** The flags that every command accepts. */
export interface GlobalFlags {
  readonly json?: boolean;
  readonly cwd?: string;
  readonly root?: readonly string[];
  readonly hooks?: boolean;
  readonly debug?: boolean;
  readonly raw?: boolean;
  readonly strict?: boolean;
  readonly lock?: string;
  readonly lockSha256?: string;
  /** The paths that flags of dialects name. */
  readonly paths?: NamedPaths;
}

export interface CommandContext {
  readonly flags: GlobalFlags;
  /** Whether --cwd was passed; the process has already changed there. */
  readonly isDirectoryNamed?: boolean;
  readonly print: Printer;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal;
  /** Piped text, for a caller that has no stdin of its own; default: that of the process. */
  readonly stdin?: Readable;
  /** Confirms in the chat instead of on the terminal. */
  readonly confirm?: (question: string) => Promise<boolean>;
}

/** Runs a command and returns the exit code of the process. */
export type Command<Options> = (context: CommandContext, options: Options) => Promise<ExitCode>;

/**
 * Opens the host described by the global flags, runs the work, and always closes the host. `showNote` is for
 * a command that draws its own screen.
 */
export async function withHost<Result>(
  context: CommandContext,
  work: (host: Host) => Promise<Result> | Result,
  extra: HostOptions = {},
  showNote: (text: string) => void = (text) => context.print.note(text),
): Promise<Result> {
  const progress = createHookProgress(context.print);
  const exchanges: DecodedExchange[] = [];
  const host = await createHost({
    ...toHostOptions(context.flags),
    ...(context.flags.debug === true ? { onExchange: (each) => exchanges.push(each) } : {}),
    onProgress: (each) => progress.observe(each),
    onNotice: (notice) => context.print.note(`note: ${toPrintable(notice)}`),
    ...extra,
  });
  try {
    await announceUnattendedTrust(host, context, showNote);
    return await work(host);
  } finally {
    progress.end();
    await host.dispose();
    if (exchanges.length > 0) await printExchanges(context, exchanges);
  }
}

/** A session must not use up the announcement, so only a user's own command makes it. */
async function announceUnattendedTrust(
  { trust }: Host,
  context: CommandContext,
  showNote: (text: string) => void,
): Promise<void> {
  if (!canAsk(context) || isHooklineError(trust.record)) return;
  const entries = listUnannounced(trust.record);
  if (entries.length === 0 || findEnclosingSession(context) !== null) return;
  const { announceTrust } = await import('./output/announce-trust.ts');
  await announceTrust(trust, entries, showNote);
}

async function printExchanges(
  context: CommandContext,
  exchanges: readonly DecodedExchange[],
): Promise<void> {
  const { formatExchanges } = await import('./output/format-exchanges.ts');
  context.print.note(formatExchanges(exchanges, context.flags.raw === true));
}

export function toHostOptions(flags: GlobalFlags): HostOptions {
  return {
    ...dropUndefined({
      cwd: flags.cwd,
      roots: flags.root,
      paths: flags.paths,
    }),
    ...toLockOption(flags),
    flags: toSettings(flags),
    plugins: createPluginOptions(flags),
    isStrict: flags.strict === true,
  };
}

function toLockOption({ lock: file, lockSha256: sha256 }: GlobalFlags): Pick<HostOptions, 'lock'> {
  if (file !== undefined) return { lock: sha256 === undefined ? { file } : { file, sha256 } };
  if (sha256 === undefined) return {};
  throw new HooklineError('USAGE_INVALID', {
    message: '--lock-sha256 requires --lock',
    hint: 'Pass the file with --lock FILE.',
  });
}

function toSettings({ hooks }: GlobalFlags): Partial<Settings> {
  return hooks === false ? { 'hooks.enabled': false } : {};
}

/**
 * Only the user may decide what runs, never an agent or a hook. Every command that grants or removes something calls
 * this first.
 */
export function rejectInsideSession(context: Pick<CommandContext, 'env'>, command: string): void {
  const why = findEnclosingSession(context);
  if (why === null) return;
  throw new HooklineError('TRUST_INSIDE_AGENT', {
    message: `\`hookline ${command}\` cannot run inside an agent session or a hook: ${why}`,
    hint: 'Run it in your own terminal.',
  });
}

/** Why this process is inside an agent session or a hook, as the end of a sentence; null when it is not. */
function findEnclosingSession({ env }: Pick<CommandContext, 'env'>): string | null {
  if (env[SESSION_MARKER] !== undefined) return `${SESSION_MARKER} is set`;
  const stateDirectory = getStateDirectory(readSurroundings());
  return stateDirectory === null ? null : findClaimAbove(stateDirectory);
}

/** Asks a yes-or-no question on the terminal; without one, throws an error that names the flag to use. */
export async function confirm(
  { print, confirm: askOnScreen }: CommandContext,
  question: { readonly text: string; readonly flag: string },
): Promise<boolean> {
  if (askOnScreen !== undefined) return askOnScreen(question.text);
  if (!hasTerminal(print)) {
    throw new HooklineError('TRUST_NEEDS_TERMINAL', {
      message: `cannot ask without a terminal: ${question.text}`,
      hint: `Review it, then pass ${question.flag}.`,
    });
  }
  const prompts = await import('@clack/prompts');
  const answer = await prompts.confirm({ message: question.text, initialValue: false });
  return answer === true;
}

/** Whether a question can be asked. */
export function canAsk({
  print,
  confirm: askOnScreen,
}: Pick<CommandContext, 'print' | 'confirm'>): boolean {
  return askOnScreen !== undefined || hasTerminal(print);
}

const STDIN = 0;

function hasTerminal({ isTerminal }: CommandContext['print']): boolean {
  // By its number, because `process.stdin` opens a stream, which takes longer than listing hooks.
  return isTerminal && isatty(STDIN);
}

/** Plugin options for every session of the CLI. */
export function createPluginOptions({
  strict,
  debug,
}: Pick<GlobalFlags, 'strict' | 'debug'>): PluginOptions {
  return {
    provided: async () =>
      (await import('../compat/cline/provided/create-host-with-cline.ts')).loadProvidedModules(),
    ...(strict === true ? { isStrict: true } : {}),
    ...(debug === true ? { showsLog: true } : {}),
  };
}

/** For commands whose stdout is read by programs: plugin output is redirected from there. */
export function createSilentPluginOptions(
  flags: Pick<GlobalFlags, 'strict' | 'debug'>,
): PluginOptions {
  const { provided, ...options } = createPluginOptions(flags);
  return {
    ...options,
    async provided() {
      redirectStdout();
      return (await provided?.()) ?? (() => null);
    },
  };
}
