import { describe, expect, it } from 'vitest';
import { runHookline } from '../hookline.ts';
import { at, createTempWorkspace, write } from '../temp-workspace.ts';

// A public plugin in a workspace imports the project's own files, without endings.

describe('hookline trust', () => {
  it('names the files that a plugin imports from elsewhere, and only counts those that are not there', async () => {
    const workspace = createTempWorkspace({
      '.cline/plugins/qa/index.ts': `import { plan } from '../../../src/plan';
export default { name: 'qa', manifest: { capabilities: ['hooks'] }, hooks: { afterRun: () => plan } };`,
      'src/plan.ts': `import { step } from './step';\nexport const plan = [step];`,
      'src/step.ts': `export const step = 1;`,
    });
    const { code, stdout } = await runHookline(['trust', '--yes'], at(workspace));
    const binds = stdout.split('\n').find((line) => line.startsWith('  binds'));
    expect({ code, binds }).toEqual({
      code: 0,
      binds:
        '  binds     .cline/plugins/qa/index.ts, src/plan.ts, src/step.ts, and that 36 other paths it may load from stay absent',
    });
    write(workspace.repo, 'src/plan.js', 'export const plan = [2];');
    const listed = await runHookline(['plugin', 'list'], at(workspace));
    expect(listed.stdout).toContain('modified');
  });
});
