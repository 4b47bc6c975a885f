import { trialCommand } from '../../../templates/trial.ts';
import type { CommandContext, GlobalFlags } from '../../context.ts';
import { toOneLine } from '../../output/print.ts';
import type { NewHook } from './plan.ts';

export function reportNewHook({ flags, print }: CommandContext, made: NewHook): void {
  const { event, example, language: lang, file, settings, hook, isTrusted: trusted, notes } = made;
  const trial = made.tryIt ?? trialCommand({ event, trial: example.trial }, workspaceFlags(flags));
  for (const note of notes) print.note(`note: ${toOneLine(note)}`);
  if (flags.json === true) {
    const configured = settings === null ? {} : { settings };
    print.json({
      path: file,
      ...configured,
      event,
      lang,
      id: hook?.id ?? null,
      trusted,
      try: trial,
    });
    return;
  }
  const { runs, does } = example;
  const line = hook === null ? '' : `:${hook.line}`;
  const entry = settings === null ? [] : [`configured in ${toOneLine(settings)}${line}`];
  print.out(
    [
      toOneLine(file),
      ...entry,
      `It runs ${runs}, and ${does}.`,
      `  try it:         ${trial}`,
      ...(hook?.place === 'workspace'
        ? [`  ${trusted ? 'after editing:' : 'to let it run:'}  hookline trust`]
        : []),
    ].join('\n'),
  );
}

/** What points another command at the same workspace. */
function workspaceFlags({ cwd, root = [] }: GlobalFlags): readonly string[] {
  return [
    ...(cwd === undefined ? [] : ['--cwd', cwd]),
    ...root.flatMap((each) => ['--root', each]),
  ];
}
