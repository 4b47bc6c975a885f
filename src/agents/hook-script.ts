import { quoteShellWord } from '../base/text.ts';

/** Formats the script that other agents start with their name as its argument. */
export function formatHookScript({
  platform,
  nodePath,
  program,
}: {
  readonly platform: NodeJS.Platform;
  readonly nodePath: string;
  readonly program: string;
  readonly stateDirectory: string;
  readonly home: string | null;
}): string {
  if (platform === 'win32') return `require(${JSON.stringify(program)});\n`;
  return `#!/bin/sh
unset NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS
exec ${quoteShellWord(nodePath)} ${quoteShellWord(program)} "$1-hook"
`;
}
