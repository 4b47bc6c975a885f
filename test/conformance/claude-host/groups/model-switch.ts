import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { createHost, type Host } from '../../../../src/host/create-host.ts';
import { command, group } from '../../claude-config/fixture.ts';
import { serveMessages } from '../messages-server.ts';
import { createTempWorkspace, type HostGroup, type TempWorkspace, writeAll } from '../play.ts';

const NO_HAIKU = 'echo "no haiku" >&2; exit 2';
const CONFIRM = `echo '{"hookSpecificOutput":{"hookEventName":"PreModelSwitch","permissionDecision":"ask","permissionDecisionReason":"confirm"}}'`;
const records = (name: string): object => command(`(echo ${name}; cat; echo) >> ran.log`);

const SETTINGS = {
  hooks: {
    PreModelSwitch: [
      group([records('pre-claude___')], 'claude-.*'),
      group([command(NO_HAIKU)], 'claude-haiku-4-5'),
      group([command(CONFIRM)], 'claude-opus-4-6'),
    ],
    PostModelSwitch: [group([records('post-claude___')], 'claude-.*')],
  },
};

interface Switch {
  readonly from: string;
  readonly to: string;
  readonly refusal?: string;
}

const SWITCHES: Readonly<Record<string, Switch>> = {
  'claude-opus-4-5': { from: 'claude-sonnet-4-5', to: 'claude-opus-4-5' },
  'claude-haiku-4-5': {
    from: 'claude-opus-4-5',
    to: 'claude-haiku-4-5',
    refusal: `Model switch blocked by a PreModelSwitch hook: [${NO_HAIKU}]: no haiku`,
  },
  'claude-opus-4-1': { from: 'claude-opus-4-5', to: 'claude-opus-4-1' },
  'claude-opus-4-6': {
    from: 'claude-opus-5-5',
    to: 'claude-opus-4-6',
    refusal: 'Model switch blocked by a PreModelSwitch hook: confirm',
  },
  opus: { from: 'claude-sonnet-5-5', to: 'claude-opus-5-5' },
  sonnet: { from: 'claude-opus-5-5', to: 'claude-sonnet-5-5' },
};

export const modelSwitch: HostGroup = {
  name: '35-modelswitch',
  cases: Object.entries(SWITCHES).map(([name, each]) => ({ name, run: () => switches(name, each) })),
};

/** Requested by a program: no user is present, so what a hook wants confirmed is refused. */
async function switches(requested: string, { from, to, refusal }: Switch): Promise<void> {
  const workspace = createTempWorkspace();
  writeAll(workspace.home, { '.claude/settings.json': SETTINGS });
  const server = await serveMessages(() => ({ text: 'fine' }));
  const host = await openHost(workspace, { model: from, baseUrl: server.url });
  try {
    const { sessionId } = await host.start({ prompt: 'hello' });
    expect(await host.switchModel(sessionId, requested)).toBe(refusal ?? null);
    await host.send(sessionId, 'again');
    const stays = refusal === undefined ? to : from;
    expect(server.requests.map(({ model }) => model)).toEqual([from, stays]);
    const expectedHooks = ['pre-claude___', ...(refusal === undefined ? ['post-claude___'] : [])];
    expect(recorded(workspace)).toEqual(
      expectedHooks.map((name) => ({ name, from, to, requested, source: 'sdk' })),
    );
  } finally {
    await host.dispose();
    await server.close();
  }
}

function openHost(
  { root, home }: TempWorkspace,
  model: { readonly model: string; readonly baseUrl: string },
): Promise<Host> {
  const env = { PATH: process.env['PATH'], HOME: home };
  const { platform, execPath: nodePath } = process;
  return createHost({
    cwd: root,
    surroundings: { cwd: root, env, home, platform, nodePath },
    model: { provider: 'anthropic', key: 'k', ...model },
  });
}

/** Each hook left its name on one line and its payload on the next. */
function recorded({ root }: TempWorkspace): readonly object[] {
  const log = path.join(root, 'ran.log');
  const loggedLines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : [];
  const lines = loggedLines.filter((line) => line !== '');
  const pairs = lines.flatMap((line, at) => (at % 2 === 0 ? [[line, lines[at + 1]] as const] : []));
  return pairs.map(([name, payload = '{}']) => {
    const payloadFields: Readonly<Record<string, unknown>> = JSON.parse(payload);
    return {
      name,
      from: payloadFields['from_model'],
      to: payloadFields['to_model'],
      requested: payloadFields['requested_model'],
      source: payloadFields['source'],
    };
  });
}
