import { expect, test } from 'vitest';
import { createDiskFixture } from '../disk-fixture.ts';
import { call, DONE } from '../sdk-fixture.ts';

/** Steers through the global object, without naming a session. */
const steering = (more = ''): string => `${more}
let own;
export default { name: 'steers', manifest: { capabilities: ['tools'] }, setup(api, ctx) {
  own = ctx.session.sessionId;
  api.registerTool({ name: 'steer', description: '', inputSchema: {}, async execute() {
    await new Promise((resolve) => setTimeout(resolve, 20));
    globalThis.__clinePluginHost.emitEvent('steer_message', { prompt: 'steered by ' + own });
    return 'steered';
  } });
} };`;

test.each([
  ['a file by itself', { '.cline/plugins/steers.mjs': steering() }],
  [
    'a file that imports another',
    {
      '.cline/plugins/steers.mjs': steering(`import './lib/other.mjs';`),
      '.cline/plugins/lib/other.mjs': 'export const other = 1;',
    },
  ],
])(
  'the global object belongs to the session of the plugin that uses it: %s',
  async (_name, files) => {
    const fixture = await createDiskFixture([call('steer'), call('steer'), DONE, DONE], files);
    const both = await Promise.all([
      fixture.start({}, { interactive: true }),
      fixture.start({}, { interactive: true }),
    ]);
    let count = 0;
    for (const { sessionId } of both) {
      const text = JSON.stringify(await fixture.core.readMessages(sessionId));
      for (const [heard] of text.matchAll(/steered by [\w-]+/g)) {
        expect(heard).toBe(`steered by ${sessionId}`);
        count += 1;
      }
    }
    expect(count).toBe(2);
  },
);
