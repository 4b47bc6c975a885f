import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { bash, command, type Group, type OpenFixture, type Fixture } from '../../fixture.ts';

const createEnvLogHook = (name: string, more = ''): object =>
  command(
    `echo "${name} \${CLAUDE_ENV_FILE:-none} $CLAUDE_PROJECT_DIR $PWD" >> env.log; ${more}true`,
  );

const SETTINGS = {
  hooks: {
    SessionStart: [
      {
        hooks: [
          createEnvLogHook('ss1', 'echo "export EXPORTED=one" >> "$CLAUDE_ENV_FILE"; '),
          createEnvLogHook('ss2', 'echo "MINE=plain_noexport" >> "$CLAUDE_ENV_FILE"; '),
          createEnvLogHook('ss3', 'echo "PATH=\\$PATH:/opt/tools" >> "$CLAUDE_ENV_FILE"; '),
        ],
      },
    ],
    UserPromptSubmit: [{ hooks: [createEnvLogHook('ups')] }],
    PreToolUse: [
      { hooks: [createEnvLogHook('pre', 'echo "hook ${EXPORTED:-unset} ${MINE:-unset}" >> seen.log; ')] },
    ],
    CwdChanged: [{ hooks: [createEnvLogHook('cwd', 'echo "export CHANGED=two" >> "$CLAUDE_ENV_FILE"; ')] }],
  },
};

/** The session of the recording: it starts, is prompted, calls Bash, and changes its directory. */
async function session(openFixture: OpenFixture): Promise<Fixture> {
  const fixture = await openFixture({
    project: SETTINGS,
    files: { 'd/.keep': '' },
    host: { moment: { sessionId: 's-1' } },
  });
  const { fire, root } = fixture;
  const below = path.join(root, 'd');
  await fire('SessionStart');
  await fire('UserPromptSubmit');
  await fire('PreToolUse', bash('echo $EXPORTED'));
  await fire('CwdChanged', { from: root, to: below, cwd: below });
  return fixture;
}

/** Each line: hook, its file for variables, project directory, working directory. */
function readEnvLine({ lines, root }: Fixture, name: string): readonly string[] {
  const all = [...lines('env.log'), ...lines('d/env.log')].map((line) => line.split(' '));
  const mine = all.find(([hook]) => hook === name) ?? [];
  return mine.slice(1).map((each) => each.replace(root, '<ROOT>'));
}

const hasFile = (name: string, file: string, cwd: string) => async (openFixture: OpenFixture) => {
  const fixture = await session(openFixture);
  const [envFile = '', project, directory] = readEnvLine(fixture, name);
  const { stateDirectory } = fixture.host;
  expect(envFile).toBe(path.join(stateDirectory ?? '', 'session-env', 's-1', file));
  expect([project, directory]).toEqual(['<ROOT>', cwd]);
};

const hasNone = (name: string) => async (openFixture: OpenFixture) => {
  expect(readEnvLine(await session(openFixture), name)).toEqual(['none', '<ROOT>', '<ROOT>']);
};

export const envFile: Group = {
  name: '17-envfile',
  cases: [
    { name: 'ss1', run: hasFile('ss1', 'sessionstart-hook-0.sh', '<ROOT>') },
    { name: 'ss2', run: hasFile('ss2', 'sessionstart-hook-1.sh', '<ROOT>') },
    { name: 'ss3', run: hasFile('ss3', 'sessionstart-hook-2.sh', '<ROOT>') },
    { name: 'ups', run: hasNone('ups') },
    { name: 'pre', run: hasNone('pre') },
    { name: 'cwd', run: hasFile('cwd', 'cwdchanged-hook-0.sh', '<ROOT>/d') },
    { name: 'seen', run: keepsAllVariables },
    { name: 'hookEnv', run: leavesHooksAlone },
  ],
};

/** Every hook has a file of its own, so that none overwrites what another one left. */
async function keepsAllVariables(openFixture: OpenFixture): Promise<void> {
  const { host } = await session(openFixture);
  const directory = path.join(host.stateDirectory ?? '', 'session-env', 's-1');
  const texts = ['sessionstart-hook-0.sh', 'sessionstart-hook-1.sh', 'sessionstart-hook-2.sh'].map(
    (file) => readFileSync(path.join(directory, file), 'utf8').trim(),
  );
  expect(texts).toEqual(['export EXPORTED=one', 'MINE=plain_noexport', 'PATH=$PATH:/opt/tools']);
}

async function leavesHooksAlone(openFixture: OpenFixture): Promise<void> {
  const { lines } = await session(openFixture);
  expect(lines('seen.log')).toEqual(['hook unset unset']);
}
