import { Readable } from 'node:stream';
import { isatty } from 'node:tty';
import type { Exchange } from '../../dialects/discovery.ts';
import type { HostOptions } from '../../host/create-host.ts';
import { withoutSecrets } from '../../host/secrets/without-secrets.ts';
import { type AgentFlags, agentOptions, refuseContradictions } from '../agent-flags.ts';
import { type Command, type CommandContext, hostOptions } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { pluginOptions } from '../plugin-options.ts';
import { openStoredSessions } from '../state/stored-sessions.ts';
import { pluginWords } from '../words/plugin.ts';
import { printable } from '../words/print.ts';

/** `hookline acp`: the Agent Client Protocol on stdin and stdout, for an editor that starts it. */
export const serveEditor: Command<AgentFlags> = async (context, flags) => {
  const { signal, print } = context;
  refuseContradictions(flags);
  const host = {
    ...hostOptions(context.flags),
    ...agentOptions(flags),
    ...debugging(context),
    plugins: { ...pluginOptions(context.flags), onConsole: sayTo(context) },
  };
  const stored = openStoredSessions();
  const note = (text: string): void => print.note(`note: ${printable(text)}`);
  if (isatty(0)) note('`hookline acp` is started by editors, and reads their requests from stdin');
  const { serveAcp } = await import('../../acp/serve.ts');
  const raw = context.flags.raw === true;
  await serveAcp({ host, ...stored, raw, note }, { input: requests(), output: answers(), signal });
  return signal.aborted ? EXIT.interrupted : EXIT.fine;
};

/** Editors keep what is written to stderr where their people can look it up. */
function sayTo({ print, flags }: CommandContext): (text: string) => void {
  return (text) =>
    void withoutSecrets({ words: pluginWords(text) }, flags).then(({ words }) => {
      if (words !== null) print.note(words);
    });
}

function requests(): ReadableStream<Uint8Array> {
  return Readable.toWeb(process.stdin);
}

function answers(): WritableStream<Uint8Array> {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  // Whatever else is written there, by a plugin for example, would not be the protocol.
  stdout.write = stderr.write.bind(stderr);
  // Whoever writes is told, too; without a listener it would end the process.
  stdout.on('error', () => undefined);
  return new WritableStream({
    write: (chunk) =>
      new Promise((resolve, reject) => {
        write(chunk, (error) => (error ? reject(error) : resolve()));
      }),
  });
}

function debugging({ flags, print }: CommandContext): Pick<HostOptions, 'onExchange'> {
  if (flags.debug !== true) return {};
  const show = async (exchange: Exchange): Promise<void> => {
    const { readableExchanges } = await import('../words/debug.ts');
    print.note(await readableExchanges([exchange], flags.raw === true));
  };
  return { onExchange: (exchange) => void show(exchange) };
}
