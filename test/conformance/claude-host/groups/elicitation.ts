import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { createScriptedModel } from '../../../../src/agent/models/scripted.ts';
import type { ElicitationRequest, Person } from '../../../../src/agent/session-context.ts';
import { createHost } from '../../../../src/host/create-host.ts';
import { exampleEntry } from '../../../mcp/servers.ts';
import { answersIn, calls, createModelRecorder } from '../../../agent/scripted-session.ts';
import { command, group } from '../../claude-config/fixture.ts';
import { createTempWorkspace, type HostGroup, type TempWorkspace, writeAll } from '../play.ts';

const BOB = { action: 'accept', content: { username: 'bob' } } as const;
const SCHEMA = {
  type: 'object',
  properties: { username: { type: 'string', title: 'User' } },
  required: ['username'],
};
const ASKED = { mcp_server_name: 'srv', message: 'Who are you?', mode: 'form' };
const QUESTION = { hook_event_name: 'Elicitation', ...ASKED, requested_schema: SCHEMA };
const RESULT = {
  hook_event_name: 'ElicitationResult',
  mcp_server_name: 'srv',
  mode: 'form',
  ...BOB,
};

function notification(action: string): object {
  return {
    hook_event_name: 'Notification',
    message: `Elicitation response for server "srv": ${action}`,
    notification_type: 'elicitation_response',
  };
}

const declines = `echo '{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}'`;
const blocks = 'echo no >&2; exit 2';

interface Case {
  readonly own: Readonly<Record<string, string>>;
  readonly told: readonly object[];
  readonly answer: string;
}

/** A question, and what hooks and the server receive, as it was recorded. */
const CASES: Readonly<Record<string, Case>> = {
  accept: {
    own: {},
    told: [QUESTION, RESULT, notification('accept')],
    answer: 'elicited:{"action":"accept","content":{"username":"bob"}}',
  },
  'decline by Elicitation': {
    own: { Elicitation: declines },
    told: [QUESTION],
    answer: 'elicited:{"action":"decline"}',
  },
  'decline by ElicitationResult': {
    own: { ElicitationResult: blocks },
    told: [QUESTION, RESULT, notification('decline')],
    answer: 'elicited:{"action":"decline"}',
  },
};

export const elicitation: HostGroup = {
  name: '47-elicit2',
  cases: Object.entries(CASES).map(([name, each]) => ({ name, run: () => ask(each) })),
};

async function ask({ own, told: reports, answer }: Case): Promise<void> {
  const workspace = createTempWorkspace();
  writeAll(workspace.home, {
    '.claude/settings.json': settingsWith(own),
    '.hookline/mcp.json': { mcpServers: { srv: exampleEntry() } },
  });
  const chat = createModelRecorder([calls(['mcp__srv__ask', {}]), { text: 'final' }]);
  const questions: ElicitationRequest[] = [];
  const host = await openHost(workspace, { model: chat.model, questions });
  try {
    const { sessionId } = await host.start({});
    await host.mcpServers();
    await host.send(sessionId, 'go');
  } finally {
    await host.dispose();
  }
  expect({ told: recorded(workspace), answer: answersIn(chat)[0] }).toEqual({ told: reports, answer });
  expect(questions).toEqual(
    reports.length === 1
      ? []
      : [{ server: 'srv', message: 'Who are you?', mode: 'form', schema: SCHEMA }],
  );
}

function settingsWith(own: Readonly<Record<string, string>>): object {
  const events = ['Elicitation', 'ElicitationResult', 'Notification'].map((event) => {
    const more = own[event];
    const all = [command('(cat; echo) >> told.log'), ...(more === undefined ? [] : [command(more)])];
    return [event, [group(all, 'srv|elicitation_response')]];
  });
  return { hooks: Object.fromEntries(events) };
}

interface Asking {
  readonly model: ReturnType<typeof createScriptedModel>;
  readonly questions: ElicitationRequest[];
}

function openHost({ root, home }: TempWorkspace, { model, questions }: Asking) {
  const user: Person = {
    approve: async () => ({ isAllowed: true }),
    answer: async () => null,
    elicit: async (request) => {
      questions.push(request);
      return BOB;
    },
  };
  const env = { PATH: process.env['PATH'], HOME: home };
  const { platform, execPath: nodePath } = process;
  const surroundings = { cwd: root, env, home, platform, nodePath };
  return createHost({ cwd: root, surroundings, model, person: user });
}

const OWN_FIELDS = Object.keys({ ...QUESTION, ...RESULT, ...notification('') });

/** The payload of each hook, without the common fields. */
function recorded({ root }: TempWorkspace): readonly object[] {
  const log = path.join(root, 'told.log');
  const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : [];
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const payload: Readonly<Record<string, unknown>> = JSON.parse(line);
      const own = Object.entries(payload).filter(([name]) => OWN_FIELDS.includes(name));
      return Object.fromEntries(own);
    });
}
