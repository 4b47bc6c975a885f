import { awaitsTrust, isRefusal, type Verdict } from '../../hooks/decision.ts';
import { type Command, type CommandContext, withHost } from '../context.ts';
import { type EventFlags, readEvent } from '../event-options.ts';
import { EXIT } from '../exit-codes.ts';
import { oneLine, printable } from '../words/print.ts';
import { jsonVerdict, readableVerdict } from '../words/verdict.ts';

export interface FireOptions extends EventFlags {
  readonly event?: string;
}

/** `hookline hooks fire EVENT`: the real hooks, without an agent. */
export const fireHooks: Command<FireOptions> = (context, options) =>
  withHost(context, async (host) => {
    const event = readEvent(options.event, options);
    const verdict = await host.engine.dispatch(event, { signal: context.signal });
    report(context, verdict);
    await host.engine.idle();
    if (isRefusal(verdict.effect)) return EXIT.refused;
    const isSound = hasRunAll(verdict) && !host.ignored().some(({ mayHideHook }) => mayHideHook);
    return context.flags.strict === true && !isSound ? EXIT.hookFailed : EXIT.fine;
  });

function report({ flags, print }: CommandContext, verdict: Verdict): void {
  if (flags.json === true) print.json(jsonVerdict(verdict));
  else print.out(readableVerdict(verdict));
  // A person at a terminal has just read it; a script looks at stderr.
  if (print.isAnswerShown && flags.json !== true) return;
  for (const { hook, why } of verdict.skipped.filter(awaitsTrust)) {
    print.note(`not run: ${oneLine(hook)}: ${printable(why)}`);
  }
  for (const { hook, failure } of verdict.outcomes) {
    if (failure !== null) print.note(`failed: ${oneLine(hook)}: ${printable(failure.message)}`);
  }
}

function hasRunAll(verdict: Verdict): boolean {
  const hasFailed = verdict.outcomes.some((outcome) => outcome.status === 'failed');
  return !hasFailed && !verdict.skipped.some(awaitsTrust);
}
