import { quoteShellWord } from '../../base/text.ts';
import type { Trial } from '../../dialects/templates.ts';

/** The command that makes an example do something visible; `flags` are further ones for it. */
export function formatTrialCommand(
  { event, trial }: { readonly event: string; readonly trial: Trial },
  flags: readonly string[],
): string {
  const own = Object.entries(trial.flags).flatMap(([name, value]) => [`--${name}`, value]);
  const hasFacts = Object.keys(trial.facts).length > 0;
  const words = ['hookline', 'hooks', 'fire', event, ...own, ...(hasFacts ? ['--facts', '-'] : [])];
  const fire = [...words, ...flags].map(quoteShellWord).join(' ');
  return [
    ...(hasFacts ? [`echo ${quoteShellWord(JSON.stringify(trial.facts))} | `] : []),
    fire,
    ...(trial.look === null ? [] : [` && ${trial.look}`]),
  ].join('');
}
