import { addNpxCompat, planNpxCompat, removeNpxCompat } from '../../../agents/npx-compat.ts';
import type { AgentsMachine } from '../../../agents/agents.ts';
import { systemClock } from '../../../base/clock.ts';
import { type Command, type CommandContext, confirm, rejectInsideSession } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { toOneLine, toPrintable } from '../../output/print.ts';
import { formatDiff } from './format-diff.ts';
import { openAgentsMachine } from './open-machine.ts';

interface NpxCompatOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly remove?: boolean;
}

/** `hookline agents npx-compat`: makes `npx @principal-ai/agent-hooks` work in this project. */
export const addNpxPackage: Command<NpxCompatOptions> = async (context, options) => {
  rejectInsideSession(context, 'agents npx-compat');
  const { print, flags } = context;
  const machine = openAgentsMachine(context);
  if (options.remove === true) {
    const files = await removeNpxCompat(machine, systemClock.now());
    if (flags.json === true) print.json({ removed: files });
    else print.out(files.length === 0 ? 'Nothing to remove.' : `Restored ${files.join(', ')}.`);
    return EXIT.fine;
  }
  return addPackage(context, machine, options);
};

async function addPackage(
  context: CommandContext,
  machine: AgentsMachine,
  { dryRun, yes }: NpxCompatOptions,
): Promise<ExitCode> {
  const { print, flags } = context;
  const change = planNpxCompat(machine);
  const { file, text } = change;
  const isDone = file.text === text;
  const planned = { path: file.path, before: file.text, after: text };
  const diff = isDone ? '' : formatDiff(planned, flags.raw === true);
  if (flags.json !== true) print.out(isDone ? 'package.json has it already.' : diff.trimEnd());
  const report = (written: boolean, problem: string | null): void => {
    if (flags.json === true) print.json({ file: file.path, diff, written, problem });
  };
  if (dryRun === true) {
    report(false, null);
    return EXIT.fine;
  }
  const question = `Add this to ${toOneLine(file.path)} and run npm install?`;
  const isWanted =
    isDone || yes === true || (await confirm(context, { text: question, flag: '--yes' }));
  if (!isWanted) {
    print.note('Nothing was written.');
    return EXIT.refused;
  }
  const { problem } = await addNpxCompat(machine, change, systemClock.now());
  report(true, problem);
  if (problem !== null) {
    print.note(toPrintable(problem));
    return EXIT.refused;
  }
  if (flags.json !== true) {
    print.out('`npx @principal-ai/agent-hooks cline-hook --enable` works in this project.');
  }
  return EXIT.fine;
}
