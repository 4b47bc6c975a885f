import { describe, expect, it } from 'vitest';
import { runHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, HOOKS, trust, write } from '../cli/temp-workspace.ts';

const FILLER = Array.from({ length: 200 }, (_, index) => `# line ${index}`).join('\n');
const MUCH = Array.from({ length: 3000 }, (_, index) => `# line ${index}`).join('\n');

describe('what `trust` shows before a decision', () => {
  it.each([
    ['after 200 harmless lines', `#!/bin/sh\n${FILLER}\nPAYLOAD\n`],
    ['after 3000 harmless lines', `#!/bin/sh\n${MUCH}\nPAYLOAD\n`],
    ['beside a NUL, which bash skips', '#!/bin/bash\nPAYLOAD\n#\0\n'],
    ['beside a byte that is not UTF-8', Buffer.from('#!/bin/sh\nPAYLOAD\n#\xe9\n', 'latin1')],
  ])('has the payload of a script: %s', async (_, text) => {
    const workspace = createTempWorkspace();
    write(workspace.repo, `${HOOKS}/PreToolUse`, text);
    expect((await runHookline(['trust'], at(workspace))).stdout).toContain('PAYLOAD');
  });

  it('has the payload of a script that changed, whatever else is in it', async () => {
    const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: '#!/bin/bash\n' });
    trust(workspace);
    write(workspace.repo, `${HOOKS}/PreToolUse`, '#!/bin/bash\nPAYLOAD\n#\0\n');
    expect((await runHookline(['trust'], at(workspace))).stdout).toContain('+PAYLOAD');
  });

  it('says how many lines of a long script are missing', async () => {
    const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: `#!/bin/sh\n${MUCH}` });
    const { stdout } = await runHookline(['trust'], at(workspace));
    expect(stdout).toContain(
      '… 2601 more lines are not shown: read them in the file before you trust it',
    );
  });

  it('has each of many allow rules', async () => {
    const allow = [
      ...Array.from({ length: 200 }, (_, index) => `Read(a${index})`),
      'Bash(PAYLOAD)',
    ];
    const settings = JSON.stringify({ permissions: { allow } });
    const workspace = createTempWorkspace({ '.claude/settings.json': settings });
    const { stdout } = await runHookline(['trust'], at(workspace));
    expect(stdout).toContain('"Bash(PAYLOAD)"');
  });
});
