import { getErrorMessage } from '../../base/errors.ts';
import { loadLinearEngine } from '../../hooks/matcher.ts';
import { defineTool } from './define-tool.ts';
import { formatSavedTo, truncateOutput, toPlainText, trimOutput } from './shell/command-output.ts';
import { type NewOutput, type ShellState, describeUnknownShell } from './shell/shells.ts';
import { createFailedOutput, type ToolOutput } from './tool.ts';

export const bashOutputTool = defineTool({
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
  parse: (fields) => ({
    id: fields.requiredText('bash_id'),
    filter: fields.optionalText('filter'),
  }),
  check: ({ id }, { shells }) => describeUnknownShell(id, shells),
  async run({ id, filter }, { shells }) {
    const isWanted = await compileFilter(filter);
    if (typeof isWanted === 'string') return createFailedOutput(isWanted);
    // The state is read first: a shell that ends in between is reported as running, with all of its output.
    const shell = shells.find(id);
    const output = shells.readNew(id);
    if (shell === null || output === null) return createFailedOutput(`There is no shell ${id}.`);
    return createShellOutput(shell, formatNewOutput(output, isWanted));
  },
});

type LineFilter = (line: string) => boolean;

/** RE2 matches in linear time, whatever the pattern. */
async function compileFilter(filter: string | null): Promise<LineFilter | string> {
  if (filter === null || filter === '') return () => true;
  const { RE2JS } = loadLinearEngine();
  try {
    const pattern = RE2JS.compile(filter);
    return (line) => pattern.matcher(line).find();
  } catch (error) {
    return `expected "filter" to be a regular expression without look-around and back references, found ${JSON.stringify(filter)}: ${getErrorMessage(error)}`;
  }
}

function formatNewOutput(
  { text, truncated, totalBytes, tail, saved }: NewOutput,
  isWanted: LineFilter,
) {
  const omission = `\n... [output of ${totalBytes} bytes cut here] ...\n`;
  const whole = toPlainText(truncated ? `${text}${omission}${tail}` : text);
  const output = truncateOutput(trimOutput(whole.split('\n').filter(isWanted).join('\n')));
  return saved === null ? output : `${output}\n${formatSavedTo(saved)}`;
}

function createShellOutput(shell: ShellState, stdout: string): ToolOutput {
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

export const killShellTool = defineTool({
  name: 'KillShell',
  description: 'Ends a background command and everything that it started.',
  schema: {
    type: 'object',
    properties: {
      shell_id: { type: 'string', description: 'The ID that Bash gave, such as bash_1' },
    },
    required: ['shell_id'],
  },
  kind: 'plan',
  parse: (fields) => ({ id: fields.requiredText('shell_id') }),
  check: ({ id }, { shells }) => describeUnknownShell(id, shells),
  async run({ id }, { shells }) {
    const before = shells.find(id);
    if (before !== null && before.status !== 'running') {
      return createFailedOutput(
        `Shell ${id} is not running, so it cannot be killed: ${before.status}.`,
      );
    }
    const shell = await shells.kill(id);
    const rest = shell?.isTreeEnded === true ? '' : '; processes that it detached may still run';
    const message = `Successfully killed shell: ${id} (${shell?.command ?? ''})${rest}`;
    return { response: { message, shell_id: id }, text: message, success: true };
  },
});
