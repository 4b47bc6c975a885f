import type { Skipped } from '../../hooks/decision.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import type { HandlerSource } from '../../hooks/handler.ts';
import { readDefaultTarget } from '../../host/agent/open-session-plugins.ts';
import { hasPluginHooks } from '../../dialects/index.ts';
import type { Host, HostOptions } from '../../host/create-host.ts';
import { SessionPlugins } from '../../host/plugins/session-plugins.ts';
import type { PluginStatus } from '../../plugins/registry.ts';
import { type CommandContext, withHost, createSilentPluginOptions } from '../context.ts';
import type { EventFlags } from '../event-options.ts';
import { colors } from '../output/colors.ts';
import { formatCount, type Printer, toPrintable, toPrintableLines } from '../output/print.ts';
import { collectPlugins } from './select-plugins.ts';

/**
 * Opens a host whose engine also has the hooks of plugins, unless `--no-load` leaves them out; ends
 * the plugins, whatever happens.
 */
export function withPluginHooks<Result>(
  context: CommandContext,
  event: FiredEvent,
  { load = true }: EventFlags,
  work: (host: Host, plugins: readonly PluginStatus[]) => Promise<Result>,
  extra: HostOptions = {},
): Promise<Result> {
  let plugins: SessionPlugins | null = null;
  let onChange: () => void = () => undefined;
  // Created without plugins, because the host takes its sources before it finds its plugins.
  const source: HandlerSource = {
    handlers: () => plugins?.handlers() ?? [],
    subscribe(listener) {
      onChange = listener;
      return () => undefined;
    },
  };
  const sources = [...(extra.sources ?? []), source];
  return withHost(
    context,
    async (host) => {
      if (!load) warnPluginsNotFired(context.print, host, event);
      if (!load || !hasPluginHooks({ ...host.moment(), ...event })) return work(host, []);
      const opened = await openPlugins(context, host, extra.onNotice);
      plugins = opened;
      onChange();
      try {
        return await work(host, opened.list());
      } finally {
        await opened.close();
      }
    },
    { ...extra, sources },
  );
}

/** Lists plugins that wait for trust like withheld hooks, because they have no handlers. */
export function listWithheldPlugins(
  host: Host,
  plugins: readonly PluginStatus[],
): readonly Skipped[] {
  if (plugins.length === 0) return [];
  return host.hooks().flatMap(({ found, hook, state, why }): readonly Skipped[] => {
    if (found.kind !== 'plugin' || (state !== 'untrusted' && state !== 'modified')) return [];
    return [{ hook: hook.id, kind: 'withheld', why: `${state}: ${why}` }];
  });
}

/** Notes how many plugins `--no-load` leaves out, because their hooks are missing from the verdict. */
function warnPluginsNotFired(print: Printer, host: Host, event: FiredEvent): void {
  const plugins = host
    .hooks()
    .filter(({ found, state }) => found.kind === 'plugin' && state === 'ready').length;
  if (plugins === 0 || !hasPluginHooks({ ...host.moment(), ...event })) return;
  print.note(`note: hooks of ${formatCount(plugins, 'plugin')} are left out (--no-load)`);
}

/** Opens plugins for a session that has no model and is never started. */
function openPlugins(
  { flags: { strict: _, ...flags }, print, signal }: CommandContext,
  host: Host,
  onNotice: (text: string) => void = (text) => print.note(`note: ${toPrintable(text)}`),
): Promise<SessionPlugins> {
  const { sessionId } = host.moment();
  return SessionPlugins.open({
    sessionId,
    opened: host,
    options: {
      ...createSilentPluginOptions(flags),
      onConsole: (text) => print.note(colors.dim(toPrintableLines(text))),
    },
    find: () =>
      collectPlugins(host).map(({ entry, status }) => ({ entry, unit: status.hook, status })),
    target: () => readDefaultTarget(host.config.settings),
    mcp: null,
    agents: () => new Map(),
    model: () => null,
    offered: () => [],
    emitEvent: () => undefined,
    notice: onNotice,
    signal,
  });
}
