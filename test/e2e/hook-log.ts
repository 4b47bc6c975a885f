import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { GLOBAL_HOOKS, nodeHook, type TempWorkspace, write } from '../cli/temp-workspace.ts';

/** A personal Cline hook, which appends these fields of its input. */
export function logging(workspace: TempWorkspace, event: string, words: string): void {
  const log = path.join(workspace.directory, 'log');
  write(
    workspace.home,
    `${GLOBAL_HOOKS}/${event}`,
    nodeHook(`require('node:fs').appendFileSync(${JSON.stringify(log)}, ${words} + '\\n');
process.stdout.write('{}');`),
  );
}

export function logOf({ directory }: TempWorkspace): readonly string[] {
  const log = path.join(directory, 'log');
  return existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
}

/** The user's own settings in Claude's format, which need no trust. */
export function claudeHooks(
  { home }: TempWorkspace,
  hooks: Readonly<Record<string, string>>,
): void {
  const entries = Object.entries(hooks).map(([event, command]) => [
    event,
    [{ hooks: [{ type: 'command', command }] }],
  ]);
  write(home, '.claude/settings.json', JSON.stringify({ hooks: Object.fromEntries(entries) }));
}

export function logCommand(workspace: TempWorkspace, words: string): string {
  return `printf '%s\\n' "${words}" >> '${path.join(workspace.directory, 'log')}'; cat > /dev/null`;
}

/** Personal hooks in Claude's format, which append these fields of their input. */
export function loggingClaude(
  workspace: TempWorkspace,
  events: readonly string[],
  words: string,
): void {
  const log = path.join(workspace.directory, 'log');
  const hook = write(
    workspace.directory,
    'log-event.cjs',
    nodeHook(`require('node:fs').appendFileSync(${JSON.stringify(log)}, ${words} + '\\n');`),
  );
  claudeHooks(workspace, Object.fromEntries(events.map((event) => [event, `node '${hook}'`])));
}
