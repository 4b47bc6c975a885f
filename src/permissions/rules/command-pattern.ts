import { isUncertain, parseShellCommands } from './shell-commands.ts';
import type { ShellCommand } from './shell-commands.ts';

/** The command pattern of a rule: `git push`, `git push *`, `git push:*`. */
export interface CommandPattern {
  /** Literal texts, with wildcards between them. */
  readonly pieces: readonly string[];
  /** Whether the last piece alone is enough: `git *` means `git`, too. */
  readonly bare: string | null;
  /** Whether it has more than the name of a program. */
  readonly isDetailed: boolean;
}

export function parseCommandPattern(content: string): CommandPattern {
  const normalized = content.trim().replaceAll(/\s+/g, ' ').replace(/:\*$/, ' *');
  const [, bare = null] = /^([^*]*[^* ]) \*$/.exec(normalized) ?? [];
  const beforeWildcard = normalized.replace(/ ?\*$/, '');
  return { pieces: normalized.split('*'), bare, isDetailed: /[ *]/.test(beforeWildcard) };
}

/** Errs towards matching: true when the line may run such a command. */
export function canRunCommand(pattern: CommandPattern, line: string): boolean {
  if (isMatchAll(pattern)) return true;
  const { commands, inner, hasExpansion, isOpen } = parseShellCommands(line);
  if (isOpen || (hasExpansion && pattern.isDetailed)) return true;
  return [...commands, ...inner].some(
    (command) =>
      isCommandMatch(pattern, command.unquoted) ||
      isCommandMatch(pattern, command.text) ||
      canBecome(pattern, command),
  );
}

/** Whether the shell may expand `rm {-rf,x}` or `rm -?f x` to a match of `rm -rf *`. */
function canBecome({ pieces, isDetailed }: CommandPattern, { fixedStart }: ShellCommand): boolean {
  if (!isDetailed || fixedStart === null) return false;
  const [first = ''] = pieces;
  return fixedStart.startsWith(first) || first.startsWith(fixedStart);
}

/** Errs towards not matching: true when the line certainly runs only such commands. */
export function hasOnlyMatchingCommands(pattern: CommandPattern, line: string): boolean {
  const parsedLine = parseShellCommands(line);
  if (parsedLine.commands.length === 0 || isUncertain(parsedLine)) return false;
  return parsedLine.commands.every(
    ({ text, hasAssignment }) => !hasAssignment && isCommandMatch(pattern, text),
  );
}

export function isMatchAll({ pieces }: CommandPattern): boolean {
  return pieces.every((piece) => piece === '');
}

/** Matches one command. Each piece is searched once, so that no pattern backtracks. */
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
