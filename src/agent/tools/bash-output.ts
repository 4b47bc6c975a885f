import { getErrorMessage } from '../../base/errors.ts';
import type { BoundedOutput } from '../../process/bounded-output.ts';
import { defineTool } from './define-tool.ts';
import { shortened } from './shell/command-output.ts';
import { plainText, trimOutput } from './shell/plain-text.ts';
import type { ShellState } from './shell/shells.ts';
import { unknownShell } from './shell/unknown-shell.ts';
import { failedOutput, type ToolOutput } from './tool.ts';

interface BashOutputInput {
  readonly id: string;
  readonly filter: string | null;
}

export const bashOutputTool = defineTool<BashOutputInput>({
  name: 'BashOutput',
  description:
    'Reads what a background command has printed since the last time it was read, and whether it still runs. The filter is a regular expression: lines that do not match it are left out and cannot be read later.',
  schema: {
    type: 'object',
    properties: {
      bash_id: { type: 'string', description: 'The ID that Bash gave, such as bash_1' },
      filter: { type: 'string', description: 'Only lines that match this regular expression' },
    },
    required: ['bash_id'],
  },
  kind: 'read',
  read: (given) => ({ id: given.filledText('bash_id'), filter: given.optionalText('filter') }),
  check: ({ id }, { shells }) => unknownShell(id, shells),
  async run({ id, filter }, { shells }) {
    const isWanted = await compileFilter(filter);
    if (typeof isWanted === 'string') return failedOutput(isWanted);
    // The state first: a shell that ends in between is then said to run, with all of its output.
    const shell = shells.find(id);
    const output = shells.readNew(id);
    if (shell === null || output === null) return failedOutput(`There is no shell ${id}.`);
    return outputOf(shell, textOf(output, isWanted));
  },
});

type LineFilter = (line: string) => boolean;

/** By an engine that takes the same time for every pattern. */
async function compileFilter(filter: string | null): Promise<LineFilter | string> {
  if (filter === null || filter === '') return () => true;
  const { RE2JS } = await import('re2js');
  try {
    const pattern = RE2JS.compile(filter);
    return (line) => pattern.matcher(line).find();
  } catch (error) {
    return `expected "filter" to be a regular expression without look-around and back references, found ${JSON.stringify(filter)}: ${getErrorMessage(error)}`;
  }
}

function textOf({ text, truncated, totalBytes, tail }: BoundedOutput, isWanted: LineFilter) {
  const left = `\n... [output of ${totalBytes} bytes cut here] ...\n`;
  const whole = plainText(truncated ? `${text}${left}${tail}` : text);
  return shortened(trimOutput(whole.split('\n').filter(isWanted).join('\n')));
}

function outputOf(shell: ShellState, stdout: string): ToolOutput {
  const { id, command, status, exitCode } = shell;
  const parts = [
    `<status>${status}</status>`,
    ...(exitCode === null ? [] : [`<exit_code>${exitCode}</exit_code>`]),
    stdout === '' ? '(no new output)' : `<stdout>\n${stdout}\n</stdout>`,
  ];
  return {
    response: { shellId: id, command, status, exitCode, stdout, stderr: '' },
    text: parts.join('\n\n'),
    success: true,
  };
}
