import path from 'node:path';
import { HooklineError } from '../../base/errors.ts';
import { recordCase, recordStored } from '../../testing/record-case.ts';
import { readStoredEvent } from '../../testing/stored-event.ts';
import { type CommandContext, hostOptions, withHost } from '../context.ts';
import { type EventFlags, readDescription } from '../event-options.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { printable } from '../words/print.ts';
import { withoutSecrets } from '../../host/secrets/without-secrets.ts';
import { readableVerdict } from '../words/verdict.ts';

interface Recording {
  /** Null when the person named none. */
  readonly directory: string | null;
  readonly force?: boolean;
}

/** Fires the event that the flags describe, and writes what came of it as a case. */
export async function recordFired(
  context: CommandContext,
  options: Recording & EventFlags & { readonly event: string },
): Promise<ExitCode> {
  const { file, verdict } = await recordCase({
    ...hostOptions(context.flags),
    directory: caseDirectory(options),
    fire: readDescription(options.event, options),
    replace: options.force === true,
    signal: context.signal,
    onNotice: (notice) => context.print.note(`note: ${printable(notice)}`),
  });
  if (context.flags.json !== true) {
    context.print.out(readableVerdict(await withoutSecrets(verdict, context.flags)));
  }
  return report(context, file, verdict.effect);
}

/** Writes a case of an event that is in the trace, with what came of it then. */
export function recordFromTrace(
  context: CommandContext,
  options: Recording & { readonly id: string },
): Promise<ExitCode> {
  const directory = caseDirectory(options);
  return withHost(context, ({ stateDirectory, config, workspaceRoots, surroundings }) => {
    const stored = readStoredEvent(
      {
        directory: path.join(stateDirectory ?? '', 'trace'),
        maxFiles: stateDirectory === null ? 0 : config.settings['trace.maxFiles'],
      },
      options.id,
    );
    const file = recordStored({
      directory,
      fire: stored.fire,
      answer: stored.answer,
      placeholders: new Map([
        ['$WORKSPACE', workspaceRoots[0] ?? surroundings.cwd],
        ...(surroundings.home === null ? [] : [['$HOME', surroundings.home] as const]),
      ]),
      replace: options.force === true,
    });
    for (const note of stored.notes) context.print.note(`note: ${note}`);
    return report(context, file, stored.answer.effect);
  });
}

function caseDirectory({ directory }: Recording): string {
  if (directory !== null) return directory;
  throw new HooklineError('USAGE_INVALID', {
    message: 'a directory for the case is missing',
    hint: 'Name one: `hookline hooks test hook-tests/my-case --record PreToolUse`.',
  });
}

function report({ flags, print }: CommandContext, file: string, effect: string): ExitCode {
  if (flags.json === true) print.json({ file, effect });
  else print.out(`Recorded ${file}; run it with \`hookline hooks test ${path.dirname(file)}\`.`);
  return EXIT.fine;
}
