import { expect } from 'vitest';
import { eventually } from '../../../../base/directory.ts';
import {
  bash,
  command,
  type Group,
  group,
  hooks,
  records,
  type OpenFixture,
  type Fixture,
} from '../../fixture.ts';

const version = (name: string): object => hooks('PreToolUse', [command(`echo ${name} >> ran.log`)]);
const PATIENCE = { timeout: 20_000, interval: 50 };

async function watching(openFixture: OpenFixture, project: object): Promise<Fixture> {
  return openFixture({ project, files: { '.claude/.keep': '' }, host: { watch: true } });
}

/** Which version of the hook runs now. */
async function current({ fire, lines, write }: Fixture): Promise<string> {
  write('ran.log', '');
  await fire('PreToolUse', bash('echo hi'));
  return lines('ran.log').join(' ');
}

export const reload: Group = {
  name: '43-reload',
  cases: [
    { name: 'v1', run: runsFirstVersion },
    { name: 'fc', run: namesChangedFile },
    { name: 'v2', run: runsSecondVersion },
    { name: 'blocklocal', run: keepsBlockedChangeOut },
  ],
};

async function runsFirstVersion(openFixture: OpenFixture): Promise<void> {
  expect(await current(await watching(openFixture, version('v1')))).toBe('v1');
}

/** The agent watches the file; the payload names the one that changed. */
async function namesChangedFile(openFixture: OpenFixture): Promise<void> {
  const { fire, recorded, root } = await openFixture({
    project: hooks('FileChanged', [command(records('changed.log'))], 'dyn.txt'),
  });
  await fire('FileChanged', { file: `${root}/dyn.txt`, change: 'change' });
  await fire('FileChanged', { file: `${root}/other.txt`, change: 'change' });
  expect(recorded('changed.log').map(({ payload }) => payload['file_path'])).toEqual([
    `${root}/dyn.txt`,
  ]);
}

async function runsSecondVersion(openFixture: OpenFixture): Promise<void> {
  const fixture = await watching(openFixture, version('v1'));
  expect(await current(fixture)).toBe('v1');
  fixture.write('.claude/settings.json', version('v2'));
  await eventually(async () => expect(await current(fixture)).toBe('v2'));
}

/** The hook that is asked about the change refuses it, so what was in force stays. */
async function keepsBlockedChangeOut(openFixture: OpenFixture): Promise<void> {
  const refusingCommand = `${records('asked.log')}; echo no >&2; exit 2`;
  const fixture = await watching(openFixture, {
    hooks: {
      PreToolUse: [group([command('echo v1 >> ran.log')])],
      ConfigChange: [group([command(refusingCommand)], 'local_settings')],
    },
  });
  fixture.write('.claude/settings.local.json', version('local'));
  await eventually(() => expect(fixture.recorded('asked.log').length).toBeGreaterThan(0));
  expect(fixture.recorded('asked.log')[0]?.payload).toMatchObject({
    source: 'local_settings',
    file_path: `${fixture.root}/.claude/settings.local.json`,
  });
  expect(await current(fixture)).toBe('v1');
  fixture.write('.claude/settings.json', version('v2'));
  await eventually(async () => expect(await current(fixture)).toBe('v2'));
}
