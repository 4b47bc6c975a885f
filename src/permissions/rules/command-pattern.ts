import { isUncertain, parseShellCommands } from './shell-commands.ts';
import type { ShellCommand } from './shell-reading.ts';

/** What a rule says of a command: `git push`, `git push *`, `git push:*`. */
export interface CommandPattern {
  /** Literal texts between which anything may stand. */
  readonly pieces: readonly string[];
  /** Whether the last piece alone is enough: `git *` means `git`, too. */
  readonly bare: string | null;
  /** Whether it says more than the name of a program. */
  readonly isDetailed: boolean;
}

export function parseCommandPattern(content: string): CommandPattern {
  const written = content.trim().replaceAll(/\s+/g, ' ').replace(/:\*$/, ' *');
  const [, bare = null] = /^([^*]*[^* ]) \*$/.exec(written) ?? [];
  const beforeWildcard = written.replace(/ ?\*$/, '');
  return { pieces: written.split('*'), bare, isDetailed: /[ *]/.test(beforeWildcard) };
}

/** Errs towards matching: whatever may run such a command counts. */
export function canRunCommand(pattern: CommandPattern, line: string): boolean {
  if (isMatchAll(pattern)) return true;
  const { commands, inner, hasExpansion, isOpen } = parseShellCommands(line);
  if (isOpen || (hasExpansion && pattern.isDetailed)) return true;
  return [...commands, ...inner].some(
    (command) =>
      isCommandMatch(pattern, command.unquoted) ||
      isCommandMatch(pattern, command.text) ||
      mayBecome(pattern, command),
  );
}

/** Whether `rm {-rf,x}` or `rm -?f x` may turn out to be what `rm -rf *` means. */
function mayBecome({ pieces, isDetailed }: CommandPattern, { fixedStart }: ShellCommand): boolean {
  if (!isDetailed || fixedStart === null) return false;
  const [first = ''] = pieces;
  return fixedStart.startsWith(first) || first.startsWith(fixedStart);
}

/** Errs towards not matching: nothing but such commands may run. */
export function hasOnlyMatchingCommands(pattern: CommandPattern, line: string): boolean {
  const reading = parseShellCommands(line);
  if (reading.commands.length === 0 || isUncertain(reading)) return false;
  return reading.commands.every(
    ({ text, hasAssignment }) => !hasAssignment && isCommandMatch(pattern, text),
  );
}

export function isMatchAll({ pieces }: CommandPattern): boolean {
  return pieces.every((piece) => piece === '');
}

/** Whether one command is such. Each piece is looked for once, so that no pattern can make it slow. */
export function isCommandMatch({ pieces, bare }: CommandPattern, command: string): boolean {
  const [first = '', ...others] = pieces;
  const last = others.pop();
  if (last === undefined) return command === first;
  if (command === bare) return true;
  if (!command.startsWith(first)) return false;
  let from = first.length;
  for (const piece of others) {
    const found = command.indexOf(piece, from);
    if (found === -1) return false;
    from = found + piece.length;
  }
  return command.length - last.length >= from && command.endsWith(last);
}
