import { HooklineError } from '../base/errors.ts';
import type { Exchange } from '../dialects/discovery.ts';
import { createHost, type Host, type HostOptions } from '../host/create-host.ts';
import { SESSION_MARKER } from '../host/hook-set.ts';
import type { Settings } from '../host/settings.ts';
import type { HandlerProgress } from '../hooks/observers.ts';
import type { ExitCode } from './exit-codes.ts';
import { pluginOptions } from './plugin-options.ts';
import { type Printer, printable } from './words/print.ts';

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
    ...hostOptions(context.flags),
    ...(context.flags.debug === true ? { onExchange: (each) => exchanges.push(each) } : {}),
    onProgress: progress.observe,
    onNotice: (notice) => context.print.note(`note: ${printable(notice)}`),
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
  const { readableExchanges } = await import('./words/debug.ts');
  context.print.note(await readableExchanges(exchanges, context.flags.raw === true));
}

export function hostOptions(flags: GlobalFlags): HostOptions {
  return {
    ...(flags.cwd === undefined ? {} : { cwd: flags.cwd }),
    ...(flags.root === undefined ? {} : { roots: flags.root }),
    ...(flags.hooksDir === undefined ? {} : { hooksDirectory: flags.hooksDir }),
    ...(flags.pluginDir === undefined ? {} : { pluginDirectories: flags.pluginDir }),
    ...(flags.settings === undefined ? {} : { claudeSettings: flags.settings }),
    ...lockOption(flags),
    flags: settingFlags(flags),
    plugins: pluginOptions(flags),
  };
}

function lockOption({ lock: file, lockSha256: sha256 }: GlobalFlags): Pick<HostOptions, 'lock'> {
  if (file !== undefined) return { lock: sha256 === undefined ? { file } : { file, sha256 } };
  if (sha256 === undefined) return {};
  throw new HooklineError('USAGE_INVALID', {
    message: '--lock-sha256 needs a lock that has this hash',
    hint: 'Name it with --lock FILE.',
  });
}

function settingFlags({ hooks }: GlobalFlags): Partial<Settings> {
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
export function refuseInsideSession({ env }: CommandContext, command: string): void {
  if (env[SESSION_MARKER] === undefined) return;
  throw new HooklineError('TRUST_INSIDE_AGENT', {
    message: `\`hookline ${command}\` was run from inside an agent session or a hook`,
    hint: 'Run it yourself in a terminal of your own.',
  });
}
