import { isUncertain, parseShellCommands } from './shell-commands.ts';
import type { ShellCommand } from './shell-commands.ts';

/** The command pattern of a rule: `git push`, `git push *`, `git push:*`. */
export interface CommandPattern {
  /** Literal texts, with wildcards between them. */
  readonly pieces: readonly string[];
  /** The command without arguments that matches, too: `git *` also means `git`. Null when there is none. */
  readonly bare: string | null;
  /** Whether it has more than the name of a program. */
  readonly isDetailed: boolean;
  /** The words before its first wildcard. */
  readonly words: readonly string[];
}

export function parseCommandPattern(content: string): CommandPattern {
  const normalized = content.trim().replaceAll(/\s+/g, ' ').replace(/:\*$/, ' *');
  const [, bare = null] = /^([^*]*[^* ]) \*$/.exec(normalized) ?? [];
  const beforeWildcard = normalized.replace(/ ?\*$/, '');
  const pieces = normalized.split('*');
  const words = (pieces[0] ?? '').split(' ').filter((word) => word !== '');
  return { pieces, bare, isDetailed: /[ *]/.test(beforeWildcard), words };
}

/** Errs towards matching: true when the line may run such a command. */
export function canRunCommand(pattern: CommandPattern, line: string): boolean {
  if (isMatchAll(pattern)) return true;
  const { commands, inner, hasExpansion, mayRunAnything } = parseShellCommands(line);
  if (mayRunAnything || (hasExpansion && pattern.isDetailed)) return true;
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

export function isCommandMatch({ pieces, bare }: CommandPattern, command: string): boolean {
  return command === bare || isWildcardMatch(pieces, command);
}

/**
 * Matches literal pieces with wildcards between them. Each piece is searched once, so that no pattern
 * backtracks.
 */
export function isWildcardMatch(pieces: readonly string[], text: string): boolean {
  const [first = '', ...others] = pieces;
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const piece of others) {
    const found = text.indexOf(piece, from);
    if (found === -1) return false;
    from = found + piece.length;
  }
  return text.length - last.length >= from && text.endsWith(last);
}
