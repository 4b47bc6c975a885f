import { addNpxCompat, planNpxCompat, removeNpxCompat } from '../../../agents/npx-compat.ts';
import { systemClock } from '../../../base/clock.ts';
import { type Command, confirm, rejectInsideSession } from '../../context.ts';
import { EXIT } from '../../exit-codes.ts';
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
  const change = planNpxCompat(machine);
  const { file, text } = change;
  const diff = formatDiff({ path: file.path, before: file.text, after: text }, flags.raw === true);
  const isDone = file.text === text;
  if (flags.json !== true) print.out(isDone ? 'package.json has it already.' : diff.trimEnd());
  if (options.dryRun === true) {
    if (flags.json === true)
      print.json({ file: file.path, diff: isDone ? '' : diff, written: false });
    return EXIT.fine;
  }
  if (!isDone && options.yes !== true) {
    const question = `Add this to ${toOneLine(file.path)} and run npm install?`;
    if (!(await confirm(context, { text: question, flag: '--yes' }))) {
      print.note('Nothing was written.');
      return EXIT.refused;
    }
  }
  const { problem } = await addNpxCompat(machine, change, systemClock.now());
  if (flags.json === true)
    print.json({ file: file.path, diff: isDone ? '' : diff, written: true, problem });
  else print.out('`npx @principal-ai/agent-hooks cline-hook --enable` works in this project.');
  if (problem === null) return EXIT.fine;
  print.note(toPrintable(problem));
  return EXIT.refused;
};
