/**
 * Finds the command of a hook file that does nothing but start one; null for any other file. Hookline's own
 * host uses it to skip the files that `agents enable cline` writes for Cline.
 */
export function findForwardingCommand(text: string): string | null {
  const [line = '', ...others] = text
    .split(/\r?\n/)
    .filter((each) => each !== '' && !each.startsWith('#'));
  if (others.length > 0) return null;
  return /^(?:exec |\$input \| & )(?<command>.*)$/.exec(line)?.groups?.['command'] ?? null;
}
