import { defineTool } from './define-tool.ts';
import { unknownShell } from './shell/unknown-shell.ts';
import { failedOutput } from './tool.ts';

export const killShellTool = defineTool<{ readonly id: string }>({
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
  read: (given) => ({ id: given.filledText('shell_id') }),
  check: ({ id }, { shells }) => unknownShell(id, shells),
  async run({ id }, { shells }) {
    const before = shells.find(id);
    if (before !== null && before.status !== 'running') {
      return failedOutput(`Shell ${id} is not running, so it cannot be killed: ${before.status}.`);
    }
    const shell = await shells.kill(id);
    const message = `Successfully killed shell: ${id} (${shell?.command ?? ''})`;
    return { response: { message, shell_id: id }, text: message, success: true };
  },
});
