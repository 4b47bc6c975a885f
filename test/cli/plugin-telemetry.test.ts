import { describe, expect, it } from 'vitest';
import { runHookline } from './hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, write } from './temp-workspace.ts';

/** A plugin that counts with everything that Cline's telemetry has. */
const PLUGIN = `export default {
  name: 'counting',
  manifest: { capabilities: ['tools', 'hooks'] },
  async setup(api, { telemetry }) {
    if (telemetry === undefined) return console.log('without telemetry');
    telemetry.capture({ event: 'set-up', properties: { n: 1 } });
    telemetry.captureRequired('set-up', { n: 1 });
    telemetry.recordCounter('runs', 1, { kind: 'a' }, 'Runs.', true);
    telemetry.recordHistogram('duration', 12.5);
    telemetry.recordGauge('size', null);
    telemetry.setDistinctId('me');
    telemetry.setMetadata({});
    telemetry.updateMetadata({});
    telemetry.setCommonProperties({});
    telemetry.updateCommonProperties({});
    await telemetry.flush();
    await telemetry.dispose();
    console.log('sends', telemetry.isEnabled());
  },
  hooks: {},
};
`;

function createWorkspace(): TempWorkspace {
  const workspace = createTempWorkspace();
  write(workspace.home, '.cline/plugins/counting.mjs', PLUGIN);
  write(workspace.directory, 'turns.json', '[{ "text": "Done." }]');
  return workspace;
}

describe('telemetry of a plugin', () => {
  it.each([
    ['run', '--script', '../turns.json', 'go'],
    ['hooks', 'fire', 'PreToolUse'],
    ['plugin', 'list'],
    ['plugin', 'validate', 'counting'],
  ])('is there in `hookline %s %s`, and sends nothing', async (...args) => {
    const { code, stderr } = await runHookline(args, at(createWorkspace()));
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('sends false') });
  });

  it('is absent in a process of its own when the host has none', async () => {
    const env = { HOOKLINE_PLUGIN_ISOLATION: 'process' };
    const args = ['run', '--script', '../turns.json', 'go'];
    const { code, stderr } = await runHookline(args, at(createWorkspace(), { env }));
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('without telemetry'),
    });
  });
});
