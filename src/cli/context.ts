import { HooklineError } from '../base/errors.ts';
import type { Exchange } from '../dialects/dialect.ts';
import { createHost, type Host, type HostOptions } from '../host/create-host.ts';
import { SESSION_MARKER } from '../host/hook-set.ts';
import type { Settings } from '../host/settings.ts';
import type { HandlerProgress } from '../hooks/observers.ts';
import type { ExitCode } from './exit-codes.ts';
import { type Printer, toPrintable } from './output/print.ts';
import { stdin } from 'node:process';
import type { PluginOptions } from '../host/plugins/plugin-options.ts';
import { redirectStdout } from './output/stdio.ts';

/** The flags that every command takes. */
export interface GlobalFlags {
  readonly json?: boolean;
  readonly cwd?: string;
  readonly root?: readonly string[];
  readonly hooksDir?: string;
  readonly pluginDir?: readonly string[];
  readonly settings?: string;
  readonly hooks?: boolean;
  readonly debug?: boolean;
  readonly raw?: boolean;
  readonly strict?: boolean;
  readonly lock?: string;
  readonly lockSha256?: string;
}

export interface CommandContext {
  readonly flags: GlobalFlags;
  /** Whether --cwd was said; by now the program works there. */
  readonly isDirectoryNamed?: boolean;
  readonly print: Printer;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal;
  /** Asks the person yes or no where the program itself draws the screen. */
  readonly confirm?: (question: string) => Promise<boolean>;
}

/** A command's work. Everything it needs is in its arguments; what it returns ends the process. */
export type Command<Options> = (context: CommandContext, options: Options) => Promise<ExitCode>;

/** Opens the host that the global flags describe, does the work, and closes it whatever happens. */
export async function withHost<Result>(
  context: CommandContext,
  work: (host: Host) => Promise<Result> | Result,
  extra: HostOptions = {},
): Promise<Result> {
  const progress = createHookProgress(context.print);
  const exchanges: Exchange[] = [];
  const host = await createHost({
    ...toHostOptions(context.flags),
    ...(context.flags.debug === true ? { onExchange: (each) => exchanges.push(each) } : {}),
    onProgress: progress.observe,
    onNotice: (notice) => context.print.note(`note: ${toPrintable(notice)}`),
    ...extra,
  });
  try {
    return await work(host);
  } finally {
    progress.end();
    await host.dispose();
    if (exchanges.length > 0) await printExchanges(context, exchanges);
  }
}

async function printExchanges(
  context: CommandContext,
  exchanges: readonly Exchange[],
): Promise<void> {
  const { formatExchanges } = await import('./output/format-exchanges.ts');
  context.print.note(await formatExchanges(exchanges, context.flags.raw === true));
}

export function toHostOptions(flags: GlobalFlags): HostOptions {
  return {
    ...(flags.cwd === undefined ? {} : { cwd: flags.cwd }),
    ...(flags.root === undefined ? {} : { roots: flags.root }),
    ...(flags.hooksDir === undefined ? {} : { hooksDirectory: flags.hooksDir }),
    ...(flags.pluginDir === undefined ? {} : { pluginDirectories: flags.pluginDir }),
    ...(flags.settings === undefined ? {} : { claudeSettings: flags.settings }),
    ...toLockOption(flags),
    flags: toSettings(flags),
    plugins: createPluginOptions(flags),
  };
}

function toLockOption({ lock: file, lockSha256: sha256 }: GlobalFlags): Pick<HostOptions, 'lock'> {
  if (file !== undefined) return { lock: sha256 === undefined ? { file } : { file, sha256 } };
  if (sha256 === undefined) return {};
  throw new HooklineError('USAGE_INVALID', {
    message: '--lock-sha256 needs a lock that has this hash',
    hint: 'Name it with --lock FILE.',
  });
}

function toSettings({ hooks }: GlobalFlags): Partial<Settings> {
  return hooks === false ? { 'hooks.enabled': false } : {};
}

const SHOW_AFTER_MS = 1000;

interface HookProgress {
  readonly observe: (progress: HandlerProgress) => void;
  readonly end: () => void;
}

/** Says which hooks are running once one of them has taken more than a second. */
function createHookProgress(print: Printer): HookProgress {
  const running = new Map<string, NodeJS.Timeout>();
  const slow = new Set<string>();
  const show = (): void => {
    const names = [...slow].join(', ');
    print.progress(names === '' ? null : `waiting for ${names} …`);
  };
  return {
    observe({ type, hook }) {
      clearTimeout(running.get(hook));
      running.delete(hook);
      if (type === 'start') {
        running.set(
          hook,
          setTimeout(() => {
            slow.add(hook);
            show();
          }, SHOW_AFTER_MS),
        );
      } else if (slow.delete(hook)) show();
    },
    end() {
      for (const timer of running.values()) clearTimeout(timer);
      print.progress(null);
    },
  };
}

/** Deciding what may run is a person's business, never an agent's or a hook's. */
export function rejectInsideSession({ env }: CommandContext, command: string): void {
  if (env[SESSION_MARKER] === undefined) return;
  throw new HooklineError('TRUST_INSIDE_AGENT', {
    message: `\`hookline ${command}\` was run from inside an agent session or a hook`,
    hint: 'Run it yourself in a terminal of your own.',
  });
}

/** Asks a yes-or-no question on the terminal; without one it is an error that says how to answer. */
export async function confirm(
  { print, confirm: askOnScreen }: CommandContext,
  question: { readonly text: string; readonly flag: string },
): Promise<boolean> {
  if (askOnScreen !== undefined) return askOnScreen(question.text);
  if (!hasTerminal(print)) {
    throw new HooklineError('TRUST_NEEDS_TERMINAL', {
      message: `there is no terminal to ask on: ${question.text}`,
      hint: `Look at it yourself, then say ${question.flag}.`,
    });
  }
  const prompts = await import('@clack/prompts');
  const answer = await prompts.confirm({ message: question.text, initialValue: false });
  return answer === true;
}

/** Whether there is somebody to ask. */
export function canAsk({ print, confirm: askOnScreen }: CommandContext): boolean {
  return askOnScreen !== undefined || hasTerminal(print);
}

function hasTerminal({ isTerminal }: CommandContext['print']): boolean {
  return stdin.isTTY && isTerminal;
}

interface PluginFlags {
  readonly strict?: boolean;
  readonly debug?: boolean;
}

/** How the program treats the plugins of every session that it opens. */
export function createPluginOptions({ strict, debug }: PluginFlags): PluginOptions {
  return {
    provided: async () => (await import('../sdk/provided/load-provided.ts')).loadProvidedModules(),
    ...(strict === true ? { isStrict: true } : {}),
    ...(debug === true ? { showsLog: true } : {}),
  };
}

/** For commands whose stdout is for programs: plugins that are imported write nothing there. */
export function createSilentPluginOptions(flags: PluginFlags): PluginOptions {
  const { provided, ...options } = createPluginOptions(flags);
  return {
    ...options,
    async provided() {
      redirectStdout();
      return (await provided?.()) ?? (() => null);
    },
  };
}
