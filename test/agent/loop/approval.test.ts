import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Approval, ApprovalRequest, Person } from '../../../src/agent/session-context.ts';
import type { HostOptions } from '../../../src/host/create-host.ts';
import { until } from '../../base/directory.ts';
import { createAgentFixture, label, type Reaction } from '../agent-fixture.ts';
import { answersIn, calls, either, named, on, createModelRecorder } from '../scripted-session.ts';

interface AskedUser extends Person {
  readonly asked: ApprovalRequest[];
}

function createUser(answer: (request: ApprovalRequest) => Approval | Promise<Approval>): AskedUser {
  const requests: ApprovalRequest[] = [];
  return {
    asked: requests,
    async approve(request) {
      requests.push(request);
      return answer(request);
    },
    answer: async () => null,
  };
}

const yes = () => createUser(() => ({ isAllowed: true }));

/** Writes each of these files in a turn of its own. */
async function play(
  files: readonly string[],
  react: Reaction = () => undefined,
  options: HostOptions & { readonly settings?: unknown } = {},
) {
  const fixture = createAgentFixture(react);
  const { settings, ...rest } = options;
  if (settings !== undefined) fixture.write('~/.claude/settings.json', JSON.stringify(settings));
  const turns = files.map((name) => calls(['Write', { file_path: name, content: name }]));
  const recorder = createModelRecorder([...turns, { text: 'Done.' }]);
  const host = await fixture.open({ model: recorder.model, ...rest });
  const { result } = await host.start({ prompt: 'write' });
  const exists = files.map((name) => existsSync(path.resolve(fixture.workspace, name)));
  return { fixture, recorder, result, exists, host };
}

describe('a user who is asked', () => {
  it('sees what the call is and why it needs approval, and lets it run', async () => {
    const askedUser = yes();
    const { exists, fixture } = await play(['x'], undefined, { person: askedUser });
    expect(exists).toEqual([true]);
    expect(askedUser.asked).toEqual([
      {
        callId: 'call_1',
        tool: 'Write',
        input: { file_path: path.join(fixture.workspace, 'x'), content: 'x' },
        reason: expect.stringMatching(/^No rule allows Write/),
        suggestions: [expect.objectContaining({ type: 'setMode', mode: 'acceptEdits' })],
        agentId: fixture.fired[0]?.agent.id,
      },
    ]);
  });

  it('denies with a reason that reaches the model', async () => {
    const { exists, recorder, result } = await play(['x'], undefined, {
      person: createUser(() => ({ isAllowed: false, reason: 'not in this house' })),
    });
    expect(exists).toEqual([false]);
    expect(answersIn(recorder)).toEqual(['The user denied this call: not in this house']);
    expect(result?.denials).toMatchObject([{ callId: 'call_1', tool: 'Write' }]);
  });

  it('is not asked again about a call that they always allow', async () => {
    const askedUser = createUser(({ suggestions }) => ({ isAllowed: true, updates: suggestions }));
    const { exists } = await play(['x', 'y'], undefined, { person: askedUser });
    expect(exists).toEqual([true, true]);
    expect(askedUser.asked).toHaveLength(1);
  });

  it('gets a notification that a permission prompt is waiting', async () => {
    const { fixture } = await play(['x'], undefined, { person: yes() });
    await until(() => named(fixture, 'Notification').length > 0);
    expect(named(fixture, 'Notification')[0]).toMatchObject({
      type: 'permission_prompt',
      message: 'Hookline needs your permission to use Write',
      waiting: true,
    });
  });

  it('cannot be reached: the call is denied, and the agent goes on', async () => {
    const { exists, recorder, result } = await play(['x'], undefined, {
      person: createUser(() => {
        throw new Error('the terminal is gone');
      }),
    });
    expect(exists).toEqual([false]);
    expect(result?.ending).toBe('done');
    expect(answersIn(recorder)).toEqual([expect.stringContaining('the terminal is gone')]);
  });
});

describe('the end of a denied call', () => {
  async function listQuestions(react: Reaction | undefined, user: Person | null) {
    const { fixture } = await play(['x'], react, user === null ? {} : { person: user });
    return fixture.runtimeEvents.flatMap((event) =>
      event.type === 'tool-end' ? [[event.deniedBy, event.question]] : [],
    );
  }

  it('says who asked, and the reason that the user gave', async () => {
    const ask = on('PreToolUse', { effect: 'ask', reason: 'look' });
    const no = createUser(() => ({ isAllowed: false, reason: 'English only' }));
    const silent = createUser(() => ({ isAllowed: false }));
    expect(await listQuestions(undefined, no)).toEqual([
      ['person', { askedBy: 'rule', userReason: 'English only' }],
    ]);
    expect(await listQuestions(ask, silent)).toEqual([
      ['person', { askedBy: 'hook', userReason: null }],
    ]);
    expect(await listQuestions(ask, null)).toEqual([
      ['nobody', { askedBy: 'hook', userReason: null }],
    ]);
    expect(await listQuestions(undefined, null)).toEqual([
      ['nobody', { askedBy: 'rule', userReason: null }],
    ]);
    const deny = on('PreToolUse', { effect: 'deny', reason: 'no' });
    expect(await listQuestions(deny, null)).toEqual([['hook', null]]);
  });
});

describe('hooks of PermissionRequest', () => {
  it('answer for the user: allowed', async () => {
    const askedUser = yes();
    const { exists } = await play(['x'], on('PermissionRequest', { effect: 'allow' }), {
      person: askedUser,
    });
    expect([exists, askedUser.asked]).toEqual([[true], []]);
  });

  it('answer for the user: denied', async () => {
    const askedUser = yes();
    const { exists, recorder } = await play(
      ['x'],
      on('PermissionRequest', { effect: 'deny', reason: 'the cat said no' }),
      { person: askedUser },
    );
    expect([exists, askedUser.asked]).toEqual([[false], []]);
    expect(answersIn(recorder)).toEqual(['the cat said no']);
  });

  it('answer where no user is present', async () => {
    const { exists } = await play(['x'], on('PermissionRequest', { effect: 'allow' }));
    expect(exists).toEqual([true]);
  });

  it('may change the call, which is checked by tool and rules again', async () => {
    const fixture = createAgentFixture();
    const elsewhere = path.join(fixture.home, 'secret');
    const rewrite = on('PermissionRequest', {
      effect: 'allow',
      input: { file_path: elsewhere, content: 'x' },
    });
    const { recorder } = await play(['x'], rewrite, { deny: [`Write(/${elsewhere})`] });
    expect(existsSync(elsewhere)).toBe(false);
    expect(answersIn(recorder)).toEqual([expect.stringContaining('denied by the rule')]);
  });

  it('may decide later calls, too', async () => {
    const permissions = [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }];
    const { exists, fixture } = await play(
      ['x', 'y'],
      on('PermissionRequest', { effect: 'allow', permissions }),
    );
    expect(exists).toEqual([true, true]);
    expect(named(fixture, 'PermissionRequest')).toHaveLength(1);
  });
});

describe('protected paths', () => {
  const allow = on('PermissionRequest', { effect: 'allow' });
  const settingsFile = '.claude/settings.json';

  it('cannot be opened by a hook, with or without a rule that asks', async () => {
    for (const ask of [[], ['Write']]) {
      const { exists, recorder } = await play([settingsFile], allow, {
        settings: { permissions: { ask } },
      });
      expect(exists).toEqual([false]);
      expect(answersIn(recorder)).toEqual([
        expect.stringContaining('No user is available to approve it'),
      ]);
    }
  });

  it('are not opened by a rewrite either', async () => {
    const fixture = createAgentFixture((event) =>
      on('PermissionRequest', {
        effect: 'allow',
        input: { file_path: path.join(event.cwd, settingsFile), content: '{}' },
      })(event),
    );
    const recorder = createModelRecorder([
      calls(['Write', { file_path: 'x', content: 'x' }]),
      { text: 'Done.' },
    ]);
    const host = await fixture.open({ model: recorder.model });
    await host.start({ prompt: 'write' });
    expect(existsSync(path.join(fixture.workspace, settingsFile))).toBe(false);
  });

  it('are not opened as one part of a call', async () => {
    const fixture = createAgentFixture(allow);
    const ask = ['Bash(touch a)'];
    fixture.write('~/.claude/settings.json', JSON.stringify({ permissions: { ask } }));
    const commands = ['touch a', `touch ${settingsFile}`];
    const recorder = createModelRecorder([
      calls(['run_commands', { commands }]),
      { text: 'Done.' },
    ]);
    const host = await fixture.open({ model: recorder.model });
    await host.start({ prompt: 'write' });
    expect(existsSync(path.join(fixture.workspace, 'a'))).toBe(false);
  });

  it('can only be opened by a user', async () => {
    const { exists } = await play([settingsFile], allow, { person: yes() });
    expect(exists).toEqual([true]);
  });
});

describe('a hook of PreToolUse that answers ask', () => {
  const ask = on('PreToolUse', { effect: 'ask', reason: 'are you sure?' });

  it('has the user asked with its reason, also about what the mode would allow', async () => {
    const askedUser = yes();
    const { exists } = await play(['x'], ask, { person: askedUser, permissionMode: 'acceptEdits' });
    expect(exists).toEqual([true]);
    expect(askedUser.asked).toMatchObject([{ reason: 'are you sure?' }]);
  });

  it('has the call denied where no user is present', async () => {
    const { exists, recorder } = await play(['x'], ask, { permissionMode: 'acceptEdits' });
    expect(exists).toEqual([false]);
    expect(answersIn(recorder)).toEqual([expect.stringContaining('are you sure?')]);
  });
});

describe('a hook of PreToolUse that allows a call', () => {
  const allow = on('PreToolUse', { effect: 'allow' });

  it('overrides the mode: no user is asked', async () => {
    const askedUser = yes();
    const { exists, fixture } = await play(['x'], allow, { person: askedUser });
    expect([exists, askedUser.asked]).toEqual([[true], []]);
    expect(fixture.fired.map(label)).not.toContain('PermissionRequest Write');
  });

  it('overrides the mode dontAsk, which denies other calls', async () => {
    const onlyX = on('PreToolUse', ({ tool }) =>
      JSON.stringify(tool.input).includes('"x"') ? { effect: 'allow' } : undefined,
    );
    const { exists } = await play(['x', 'y'], onlyX, { permissionMode: 'dontAsk' });
    expect(exists).toEqual([true, false]);
  });

  it('does not override a rule that asks in the mode dontAsk', async () => {
    const settings = { permissions: { ask: ['Write'] } };
    const { exists } = await play(['x'], on('PreToolUse', { effect: 'allow' }), {
      permissionMode: 'dontAsk',
      settings,
    });
    expect(exists).toEqual([false]);
  });

  it('does not override a rule that asks', async () => {
    const askedUser = yes();
    const settings = { permissions: { ask: ['Write'] } };
    const { exists } = await play(['x'], allow, { person: askedUser, settings });
    expect(exists).toEqual([true]);
    expect(askedUser.asked).toMatchObject([{ reason: expect.stringContaining('the rule Write') }]);
  });

  it('does not override a rule that denies', async () => {
    const askedUser = yes();
    const { exists } = await play(['x'], allow, { person: askedUser, deny: ['Write'] });
    expect([exists, askedUser.asked]).toEqual([[false], []]);
  });

  it('does not override protected paths', async () => {
    const { exists, recorder } = await play(['.claude/settings.json'], allow, {
      permissionMode: 'bypassPermissions',
    });
    expect(exists).toEqual([false]);
    expect(answersIn(recorder)).toEqual([expect.stringContaining('needs approval')]);
  });
});

describe('a plan', () => {
  async function playPlan(asked: AskedUser) {
    const fixture = createAgentFixture();
    const recorder = createModelRecorder([
      calls(['ExitPlanMode', { plan: '1. Write' }]),
      calls(['Write', { file_path: 'x', content: 'x' }]),
      { text: 'Done.' },
    ]);
    const options = { model: recorder.model, person: asked, permissionMode: 'plan' } as const;
    await (await fixture.open(options)).start({ prompt: 'plan' });
    return { recorder, exists: existsSync(path.join(fixture.workspace, 'x')) };
  }

  it('is carried out once the user agreed with it', async () => {
    const askedUser = yes();
    const { recorder, exists } = await playPlan(askedUser);
    expect(askedUser.asked.map(({ tool }) => tool)).toEqual(['ExitPlanMode', 'Write']);
    expect(askedUser.asked[0]).toMatchObject({ input: { plan: '1. Write' }, suggestions: [] });
    expect(answersIn(recorder)[0]).toBe('The user agrees with your plan. Begin to carry it out.');
    expect(exists).toBe(true);
  });

  it('that the user did not agree with leaves the session in plan mode', async () => {
    const askedUser = createUser(() => ({ isAllowed: false, reason: 'too much' }));
    const { recorder, exists } = await playPlan(askedUser);
    expect(askedUser.asked.map(({ tool }) => tool)).toEqual(['ExitPlanMode']);
    expect(answersIn(recorder)).toEqual([
      'The user denied this call: too much',
      expect.stringContaining(
        'has been denied: the mode plan allows only reading, planning and asking',
      ),
    ]);
    expect(exists).toBe(false);
  });
});

describe('an abort while the user is asked', () => {
  it('ends the run without the call', async () => {
    const fixture = createAgentFixture(either());
    const recorder = createModelRecorder([calls(['Write', { file_path: 'x', content: 'x' }])]);
    const host = await fixture.open({
      model: recorder.model,
      person: {
        async approve(_request, signal) {
          const id = fixture.fired[0]?.sessionId ?? '';
          await host.abort(id, 'changed my mind');
          signal.throwIfAborted();
          return { isAllowed: true };
        },
        answer: async () => null,
      },
    });
    const { result } = await host.start({ prompt: 'write' });
    expect(result).toMatchObject({ status: 'aborted', reason: 'changed my mind' });
    expect(existsSync(path.join(fixture.workspace, 'x'))).toBe(false);
    expect(named(fixture, 'RunEnd')).toHaveLength(1);
  });
});
