import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../base/directory.ts';
import { createDiskFixture, toolPlugin } from '../../compat/cline/disk-fixture.ts';
import { answers, call, DONE } from '../../compat/cline/sdk-fixture.ts';
import { isAlive } from './isolated.ts';

function pidsIn(directory: string): readonly number[] {
  const names = existsSync(directory) ? readdirSync(directory) : [];
  return names
    .filter((name) => name.startsWith('pid-'))
    .map((name) => Number(readFileSync(path.join(directory, name), 'utf8')));
}

const withPid = (text: string): string =>
  `import { writeFileSync } from 'node:fs'; writeFileSync('pid-' + process.pid, String(process.pid));\n${text}`;

describe('plugins on disk, each in a process of its own', () => {
  it('work in a session, where one that crashes does not affect the others, and all end with it', async () => {
    const crashing = toolPlugin('brittle', 'crash').replace('calls += 1', 'process.exit(3)');
    const unmeant = toolPlugin('unmeant', 'never').replace(
      'manifest: {',
      'manifest: { providerIds: ["elsewhere"],',
    );
    const fixture = await createDiskFixture([call('crash'), call('work', { a: 'b' }), DONE], {
      '.cline/plugins/brittle.ts': withPid(crashing),
      '.cline/plugins/sound.ts': withPid(toolPlugin('sound', 'work')),
      '.cline/plugins/unmeant.ts': withPid(unmeant),
    });
    const { result, sessionId } = await fixture.start(
      { pluginIsolation: 'process' },
      { interactive: true },
    );
    expect(result).toMatchObject({ finishReason: 'completed', text: 'Done.' });
    const [crashed = '', worked = ''] = answers(fixture);
    expect(JSON.parse(crashed)).toEqual({
      error: expect.stringContaining(
        'the process of the plugin "brittle" ended by itself with exit code 3',
      ),
    });
    expect(JSON.parse(worked)).toMatchObject({ from: 'sound', calls: 1, input: { a: 'b' } });
    const pids = pidsIn(fixture.workspace);
    expect(pids).toHaveLength(3);
    await eventually(() => expect(pids.filter(isAlive)).toHaveLength(1));
    await fixture.core.stop(sessionId);
    await eventually(() => expect(pids.filter(isAlive)).toEqual([]));
  });
});
