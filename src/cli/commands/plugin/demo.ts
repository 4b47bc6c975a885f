import { HooklineError, getErrorMessage } from '../../../base/errors.ts';
import { waitOrAbort } from '../../../base/abort.ts';
import type { PluginEntry } from '../../../plugins/entry.ts';
import type { Host } from '../../../host/create-host.ts';
import { getCacheDirectory } from '../../../host/plugins/load-plugins.ts';
import { type Command, type CommandContext, createPluginOptions } from '../../context.ts';
import { acquireProcessClaim } from '../../../trust/claims.ts';
import { EXIT } from '../../exit-codes.ts';
import { explainNotLoaded, withNamedPlugins } from '../../plugins/named-plugin.ts';
import type { Imported } from '../../../plugins/load/import-module.ts';
import { toPrintable, toPrintableLines } from '../../output/print.ts';

type Demo = () => unknown;

/** `hookline plugin demo FILE`: runs the `runDemo` that the file exports, as its author wrote it. */
export const runPluginDemo: Command<{
  readonly file: string;
  readonly yes?: boolean;
}> = (context, { file, yes = false }) =>
  withNamedPlugins(context, file, async ([plugin, ...others], host) => {
    if (plugin === undefined || others.length > 0) throw createAmbiguousError(file);
    const withheld = await explainNotLoaded(plugin, host, context, yes);
    if (withheld !== null) {
      context.print.note(`not run: ${toPrintable(withheld)}`);
      return EXIT.refused;
    }
    // What the plugin starts must not grant trust.
    acquireProcessClaim(host.stateDirectory);
    const runDemo = await findDemo(plugin.entry, host, context);
    try {
      await waitOrAbort(Promise.resolve(runDemo()), context.signal);
      return EXIT.fine;
    } catch (error) {
      context.signal.throwIfAborted();
      context.print.note(`runDemo failed: ${toPrintableLines(getErrorMessage(error))}`);
      return EXIT.refused;
    }
  });

function createAmbiguousError(file: string): HooklineError {
  return new HooklineError('USAGE_INVALID', {
    message: `plugin demo expects one plugin’s file, found several at ${JSON.stringify(file)}`,
    hint: 'Pass the file itself.',
  });
}

const IMPORT_TIMEOUT_MS = 30_000;

async function findDemo(entry: PluginEntry, host: Host, context: CommandContext): Promise<Demo> {
  const imported = await importFile(entry, host, context);
  if ('problem' in imported) throw createNoDemoError(entry, imported.problem);
  const { runDemo } = imported.module;
  if (isDemo(runDemo)) return runDemo;
  throw createNoDemoError(entry, 'it exports no function `runDemo`');
}

async function importFile(
  entry: PluginEntry,
  { stateDirectory }: Host,
  { flags, signal }: CommandContext,
): Promise<Imported> {
  const { importModule } = await import('../../../plugins/load/import-module.ts');
  const provided = await createPluginOptions(flags).provided?.();
  const request = {
    entry,
    provided: provided ?? (() => null),
    cacheDirectory: getCacheDirectory(stateDirectory),
    copy: 'demo',
    timeoutMs: IMPORT_TIMEOUT_MS,
    signal,
  };
  try {
    return await waitOrAbort(importModule(request), signal);
  } catch (error) {
    signal.throwIfAborted();
    const { explainLoadError } = await import('../../../plugins/load/explain-load-error.ts');
    return { problem: explainLoadError(error, entry) };
  }
}

function isDemo(value: unknown): value is Demo {
  return typeof value === 'function';
}

function createNoDemoError({ file }: PluginEntry, why: string): HooklineError {
  return new HooklineError('PLUGIN_INVALID', {
    message: `${file} has no demo to run: ${why}`,
    hint: 'Export one: `export async function runDemo() { … }`, as `hookline hooks new --dialect plugin` writes it.',
  });
}
