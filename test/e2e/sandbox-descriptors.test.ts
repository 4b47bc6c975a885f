import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { resultOf, startHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, HOOKS, nodeHook, trust, write } from '../cli/temp-workspace.ts';
import { bash, DONE, scripted, toolEnds, written } from './agent-run.ts';

/** Writes which of its descriptors lead to the secrets beside the workspace. */
const LIST_SECRETS = `const fs = require('node:fs');
const found = fs.readdirSync('/proc/self/fd').filter((name) => {
  try { return fs.readlinkSync('/proc/self/fd/' + name).includes('secret'); } catch { return false; }
});
`;

const LEFT_OPEN = [3, 9, 16, 63, 200];

it.each(['file', 'directory'])(
  'a %s that whoever started Hookline left open is open in no command and no hook',
  async (kind) => {
    const workspace = createTempWorkspace({
      'list.cjs': `${LIST_SECRETS}console.log(JSON.stringify(found));`,
      [`${HOOKS}/PreToolUse`]: nodeHook(
        `${LIST_SECRETS}fs.writeFileSync('seen', JSON.stringify(found) + '\\n');`,
      ),
    });
    trust(workspace);
    write(workspace.home, '.hookline/config.json', '{"hooks":{"sandbox":"workspace"}}');
    const file = write(workspace.directory, 'secret/key', 'key');
    const descriptor = openSync(kind === 'file' ? file : path.dirname(file), 'r');
    onTestFinished(() => closeSync(descriptor));
    const stdio: (number | 'pipe' | 'ignore')[] = ['pipe', 'pipe', 'pipe'];
    for (const place of LEFT_OPEN) {
      while (stdio.length < place) stdio.push('ignore');
      stdio[place] = descriptor;
    }
    const turns = [bash('node list.cjs'), DONE];
    const args = ['go', '--permission-mode', 'bypassPermissions', '--output', 'stream-json'];
    const child = startHookline(scripted(workspace, turns, args), at(workspace), { stdio });
    child.stdin?.end();
    const result = await resultOf(child);
    expect(toolEnds(result)[0]).toMatchObject({ output: { sandbox: 'workspace', text: '[]' } });
    expect(await written(path.join(workspace.repo, 'seen'))).toBe('[]');
  },
);
