import { Readable } from 'node:stream';
import { isatty } from 'node:tty';
import type { DecodedExchange } from '../../trace/exchange.ts';
import type { HostOptions } from '../../host/create-host.ts';
import { redactObject } from '../../host/redact-object.ts';
import { type AgentFlags, toAgentOptions, checkFlagConflicts } from '../agent-flags.ts';
import {
  type Command,
  type CommandContext,
  toHostOptions,
  createPluginOptions,
} from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { openStoredSessions } from '../config-files/stored-sessions.ts';
import { formatConsoleOutput } from '../output/format-plugin.ts';
import { toPrintable } from '../output/print.ts';

/** `hookline acp`: serves the Agent Client Protocol on stdin and stdout. */
export const runAcp: Command<AgentFlags> = async (context, flags) => {
  const { signal, print } = context;
  checkFlagConflicts(flags);
  const host = {
    ...toHostOptions(context.flags),
    ...toAgentOptions(flags),
    ...createDebugOptions(context),
    plugins: { ...createPluginOptions(context.flags), onConsole: createConsoleListener(context) },
  };
  const stored = openStoredSessions();
  const note = (text: string): void => print.note(`note: ${toPrintable(text)}`);
  if (isatty(0)) note('`hookline acp` is started by editors, and reads their requests from stdin');
  const { serveAcp } = await import('../../acp/serve.ts');
  const raw = context.flags.raw === true;
  await serveAcp({ host, ...stored, raw, note }, openRequests(), openAnswers(), signal);
  return signal.aborted ? EXIT.interrupted : EXIT.fine;
};

/** Editors log stderr. */
function createConsoleListener({ print, flags }: CommandContext): (text: string) => void {
  return (text) =>
    void redactObject({ output: formatConsoleOutput(text) }, flags).then(({ output }) => {
      if (output !== null) print.note(output);
    });
}

function openRequests(): ReadableStream<Uint8Array> {
  return Readable.toWeb(process.stdin);
}

function openAnswers(): WritableStream<Uint8Array> {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  // Other output on stdout would break the protocol.
  stdout.write = stderr.write.bind(stderr);
  // The writer gets the error, too; without a listener it would end the process.
  stdout.on('error', () => undefined);
  return new WritableStream({
    write: (chunk) =>
      new Promise((resolve, reject) => {
        write(chunk, (error) => (error ? reject(error) : resolve()));
      }),
  });
}

function createDebugOptions({ flags, print }: CommandContext): Pick<HostOptions, 'onExchange'> {
  if (flags.debug !== true) return {};
  const show = async (exchange: DecodedExchange): Promise<void> => {
    const { formatExchanges } = await import('../output/format-exchanges.ts');
    print.note(formatExchanges([exchange], flags.raw === true));
  };
  return { onExchange: (exchange) => void show(exchange) };
}
