import { expect } from 'vitest';
import {
  bash,
  command,
  type Group,
  group,
  hooks,
  type Setup,
  type OpenFixture,
  type Fixture,
} from '../../fixture.ts';

const VARIABLES = 'CLAUDE_PLUGIN_ROOT CLAUDE_PLUGIN_DATA CLAUDE_PROJECT_DIR CLAUDE_ENV_FILE';
const RECORD = `#!/bin/sh
cat > /dev/null
for name in ${VARIABLES}; do eval "echo $name=\\\${$name-}"; done > "$CLAUDE_PROJECT_DIR/$1.env"
`;
const records = (name: string): object => command(`"\${CLAUDE_PLUGIN_ROOT}/rec.sh" ${name}`);
const DUPLICATE = command('echo dup >> dup.log');

/** The plugins of the recording. */
const SETUP: Setup = {
  plugins: ['plug', 'plug2', 'plug3', 'plug4', 'plug5'],
  project: hooks('PreToolUse', [
    DUPLICATE,
    command('echo "root=[${CLAUDE_PLUGIN_ROOT}]" >> nonplug.log'),
  ]),
  beside: {
    'plug/.claude-plugin/plugin.json': { name: 'my-plug', version: '1.0.0' },
    'plug/rec.sh': RECORD,
    'plug/hooks/hooks.json': {
      description: 'the usual place',
      hooks: {
        SessionStart: [group([records('plugss')])],
        PreToolUse: [
          group([
            records('plugsh'),
            DUPLICATE,
            command('echo', { args: ['${user_config.webhook_url}'] }),
            command('echo ${user_config.webhook_url}'),
          ]),
        ],
      },
    },
    'plug2/.claude-plugin/plugin.json': { name: 'plug-two', hooks: './custom/h.json' },
    'plug2/rec.sh': RECORD,
    'plug2/custom/h.json': hooks('PreToolUse', [records('plug2custom'), DUPLICATE]),
    'plug3/.claude-plugin/plugin.json': {
      name: 'plug-three',
      hooks: { PreToolUse: [group([records('plug3inline')])] },
    },
    'plug3/rec.sh': RECORD,
    'plug4/hooks/hooks.json': { PreToolUse: [group([command(': > plug4-ran')])] },
    'plug5/.claude-plugin/plugin.json': { name: 'plug-five' },
    'plug5/hooks/hooks.json': {
      hooks: {
        FooEvent: [group([command('true')])],
        PreToolUse: [group([command(': > plug5-ran'), { type: 'zzz' }])],
      },
    },
  },
};

interface Session {
  readonly world: Fixture;
  readonly failures: readonly string[];
}

async function session(openFixture: OpenFixture): Promise<Session> {
  const fixture = await openFixture(SETUP);
  await fixture.fire('SessionStart');
  const { outcomes } = await fixture.fire('PreToolUse', bash('echo hi'));
  return { world: fixture, failures: outcomes.flatMap(({ failure }) => failure?.message ?? []) };
}

const has = (name: string, variables: object) => async (openFixture: OpenFixture) => {
  const { world: fixture } = await session(openFixture);
  const { lines, directory } = fixture;
  const reports = lines(`${name}.env`).map((line) => line.replace(directory, '<RUN>').split('='));
  expect(Object.fromEntries(reports)).toEqual({
    CLAUDE_PROJECT_DIR: '<RUN>/work/project',
    CLAUDE_ENV_FILE: '',
    ...variables,
  });
};

const DATA = '<RUN>/home/.claude/plugins/data';

const fails = (message: RegExp) => async (openFixture: OpenFixture) => {
  const { failures } = await session(openFixture);
  expect(failures.filter((each) => message.test(each)).length).toBe(1);
};

export const plugins: Group = {
  name: '26-plugin',
  cases: [
    {
      name: 'plugss',
      run: has('plugss', {
        CLAUDE_PLUGIN_ROOT: '<RUN>/plug',
        CLAUDE_PLUGIN_DATA: `${DATA}/my-plug-inline`,
        CLAUDE_ENV_FILE: expect.stringMatching(/sessionstart-hook-0\.sh$/u),
      }),
    },
    {
      name: 'plugsh',
      run: has('plugsh', {
        CLAUDE_PLUGIN_ROOT: '<RUN>/plug',
        CLAUDE_PLUGIN_DATA: `${DATA}/my-plug-inline`,
      }),
    },
    {
      name: 'plug2custom',
      run: has('plug2custom', {
        CLAUDE_PLUGIN_ROOT: '<RUN>/plug2',
        CLAUDE_PLUGIN_DATA: `${DATA}/plug-two-inline`,
      }),
    },
    {
      name: 'plug3inline',
      run: has('plug3inline', {
        CLAUDE_PLUGIN_ROOT: '<RUN>/plug3',
        CLAUDE_PLUGIN_DATA: `${DATA}/plug-three-inline`,
      }),
    },
    { name: 'dup', run: runsInEachFamily },
    { name: 'nonplug', run: needsPlugin },
    { name: 'plug4', run: fails(/"PreToolUse" is outside the "hooks" object/u) },
    { name: 'plug5', run: keepsSoundEntries },
    { name: 'user_config unset', run: fails(/option "webhook_url" is not set/u) },
    { name: 'user_config in shell form', run: fails(/\$\{user_config…\}.*"args"/u) },
  ],
};

async function runsInEachFamily(openFixture: OpenFixture): Promise<void> {
  const { world: fixture } = await session(openFixture);
  expect(fixture.lines('dup.log')).toEqual(['dup', 'dup', 'dup']);
}

async function needsPlugin(openFixture: OpenFixture): Promise<void> {
  const { world: fixture, failures } = await session(openFixture);
  expect(fixture.has('nonplug.log')).toBe(false);
  expect(failures.join('\n')).toMatch(
    /\$\{CLAUDE_PLUGIN_ROOT\}, which only hooks of a plugin have/u,
  );
}

async function keepsSoundEntries(openFixture: OpenFixture): Promise<void> {
  const { world: fixture, failures } = await session(openFixture);
  expect(fixture.has('plug5-ran')).toBe(true);
  expect(failures.join('\n')).toMatch(/"type".*"zzz"/u);
  const ignored = fixture.host.ignored().map(({ why }) => why);
  expect(ignored.join('\n')).toMatch(/event "FooEvent" not found/u);
}
