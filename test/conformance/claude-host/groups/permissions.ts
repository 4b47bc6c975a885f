import { expect } from 'vitest';
import { runHookline } from '../../../cli/hookline.ts';
import { command, group } from '../../claude-config/fixture.ts';
import { fieldsAt, listAt, observed } from '../../claude-config/recording.ts';
import type { Act } from '../../claude-config/scripts.ts';
import { type CaseActs, caseFiles, createRecorderCommand } from '../hook-programs.ts';
import { bashCalls, type HostGroup, play, sharedScene } from '../play.ts';
import { listRecordedEvents, readNewText, readRecordedText } from '../requests.ts';

const decides = (decision: object): Act => ({
  out: { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } },
});

const REQUESTS: Readonly<Record<string, Act>> = {
  none: {},
  deny: decides({ behavior: 'deny', message: 'pr deny msg' }),
  allow: decides({ behavior: 'allow' }),
  denynomsg: decides({ behavior: 'deny' }),
  exit2: { err: 'no', exit: 2 },
  allowupd: decides({ behavior: 'allow', updatedInput: { command: 'echo replaced' } }),
  exit1: { err: 'no', exit: 1 },
  legacy: { out: { decision: 'approve' } },
  pdec: {
    out: {
      hookSpecificOutput: { hookEventName: 'PermissionRequest', permissionDecision: 'allow' },
    },
  },
  perm: decides({
    behavior: 'allow',
    updatedPermissions: [
      {
        type: 'addRules',
        rules: [
          { toolName: 'Bash', ruleContent: 'touch *' },
          { toolName: 'Bash', ruleContent: 'echo *' },
        ],
        behavior: 'allow',
        destination: 'session',
      },
    ],
  }),
  afterperm: decides({ behavior: 'deny', message: 'nobody should ask' }),
};

/** The calls that are not decided; they are denied, with our message. */
const UNDECIDED = ['none', 'exit2', 'exit1', 'legacy', 'pdec'];

const requests = sharedScene(() => ({
  prompt: 'go',
  mode: 'default',
  settings: {
    hooks: {
      PreToolUse: [group([command(createRecorderCommand('pre'))])],
      PermissionRequest: [group([command('node case.mjs c'), command(createRecorderCommand('asked'))])],
    },
  },
  files: caseFiles(
    Object.fromEntries(
      Object.entries(REQUESTS).map(([name, act]): [string, CaseActs[string]] => [name, { c: act }]),
    ),
  ),
  answer: bashCalls(Object.keys(REQUESTS).map((name) => `touch f_CASE_${name} && echo done`)),
}));

export const permissionRequest: HostGroup = {
  name: '28-permreq',
  cases: [
    ...Object.keys(REQUESTS).map((name, index) => ({ name, run: () => asks(name, index) })),
    { name: 'none: the payload of the hook', run: sendsRequest },
    { name: 'none: who is asked in which order, and what was denied', run: asksInOrder },
    { name: 'denyint', run: interrupts },
  ],
};

async function asks(name: string, index: number): Promise<void> {
  const played = await requests();
  const newText = readNewText(played.requests[index + 1]);
  const recorded = readRecordedText(fieldsAt(observed('28-permreq'), 'per')[name]);
  if (UNDECIDED.includes(name)) {
    expect(newText).toMatch(
      /^\[TOOL_RESULT ERR\] .*No user is available to approve it, so the call is denied\.$/u,
    );
  } else expect(newText).toBe(recorded);
  expect(played.has(`f_CASE_${name}`)).toBe(['allow', 'perm', 'afterperm'].includes(name));
}

async function sendsRequest(): Promise<void> {
  const { payloads: reports } = await requests();
  const recorded = fieldsAt(observed('28-permreq'), 'firstPR');
  const first = reports.find(({ name }) => name === 'asked')?.payload ?? {};
  expect(Object.keys(first).filter((key) => !(key in recorded))).toEqual([]);
  expect(first['tool_input']).toEqual({ command: 'touch f_CASE_none && echo done' });
  expect(first['permission_suggestions']).toEqual([
    {
      type: 'addRules',
      rules: [{ toolName: 'Bash', ruleContent: 'touch f_CASE_none' }],
      behavior: 'allow',
      destination: 'session',
    },
  ]);
}

async function asksInOrder(): Promise<void> {
  const played = await requests();
  expect(listRecordedEvents(played)).toEqual(Object.keys(REQUESTS).flatMap(askedAbout));
  const { denials, ending } = played.result;
  const denied = ['none', 'deny', 'denynomsg', 'exit2', 'exit1', 'legacy', 'pdec'];
  expect(denials.map(({ tool, input }) => ({ tool, input }))).toEqual(
    denied.map((name) => ({
      tool: 'Bash',
      input: { command: `touch f_CASE_${name} && echo done` },
    })),
  );
  expect({ ending, code: played.code }).toEqual({ ending: 'done', code: 0 });
}

/** Whoever did not see the rewritten input yet looks at it, too. */
function askedAbout(name: string): readonly string[] {
  const expectedHooks = ['PreToolUse:pre', 'PermissionRequest:asked'];
  if (name === 'afterperm') return expectedHooks.slice(0, 1);
  return name === 'allowupd' ? [...expectedHooks, 'PermissionRequest:asked', 'PreToolUse:pre'] : expectedHooks;
}

/** In the recording a rule let the call pass before the hook was asked; here the hook is asked. */
async function interrupts(): Promise<void> {
  const {
    result,
    requests: asked,
    has,
    code,
  } = await play({
    prompt: 'go',
    mode: 'default',
    settings: { hooks: { PermissionRequest: [group([command('node case.mjs c')])] } },
    files: caseFiles({
      denyint: { c: decides({ behavior: 'deny', message: 'stop it', interrupt: true }) },
    }),
    answer: bashCalls(['touch f_CASE_denyint']),
  });
  const { ending, reason } = result;
  expect({ code, ending, reason, requests: asked.length, ran: has('f_CASE_denyint') }).toEqual({
    code: 1,
    ending: 'stopped_by_hook',
    reason: 'stop it',
    requests: 1,
    ran: false,
  });
}

const says = (fields: object): Act => ({
  out: { hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields } },
});
const ALLOWS = says({ permissionDecision: 'allow' });

interface RuleCase {
  readonly act: Act;
  readonly command: string;
  /** Where the message is ours. */
  readonly sees?: RegExp;
}

const DENIED_BY_RULE =
  /^\[TOOL_RESULT ERR\] Permission to use Bash with command touch DENYRULE_\w+ has been denied by the rule Bash\(touch DENYRULE\*\) of /u;

const RULE_CASES: Readonly<Record<string, RuleCase>> = {
  nohook: { act: {}, command: 'touch CASE_nohook', sees: /No user is available to approve it/u },
  allow: { act: ALLOWS, command: 'touch CASE_allow' },
  allow_denyrule: {
    act: ALLOWS,
    command: 'touch DENYRULE_CASE_allow_denyrule',
    sees: DENIED_BY_RULE,
  },
  allow_askrule: {
    act: ALLOWS,
    command: 'touch ASKRULE_CASE_allow_askrule',
    sees: /No user is available to approve it/u,
  },
  ask_allowrule: {
    act: says({ permissionDecision: 'ask', permissionDecisionReason: 'ask it' }),
    command: 'touch ALLOWRULE_CASE_ask_allowrule',
  },
  upd_into_denied: {
    act: says({ permissionDecision: 'allow', updatedInput: { command: 'touch DENYRULE_x' } }),
    command: 'touch CASE_upd_into_denied',
    sees: DENIED_BY_RULE,
  },
  upd_nodec: {
    act: says({ updatedInput: { command: 'touch ALLOWRULE_y' } }),
    command: 'touch CASE_upd_nodec',
  },
};

const rules = sharedScene(() => ({
  prompt: 'go',
  mode: 'default',
  settings: {
    permissions: {
      allow: ['Bash(touch ALLOWRULE*)'],
      ask: ['Bash(touch ASKRULE*)'],
      deny: ['Bash(touch DENYRULE*)'],
    },
    hooks: {
      PreToolUse: [group([command(createRecorderCommand('pre')), command('node case.mjs c')])],
      PermissionRequest: [group([command(createRecorderCommand('asked'))])],
    },
  },
  files: caseFiles(
    Object.fromEntries(
      Object.entries(RULE_CASES).map(([name, { act }]): [string, CaseActs[string]] => [
        name,
        { c: act },
      ]),
    ),
  ),
  answer: bashCalls(Object.values(RULE_CASES).map((each) => each.command)),
}));

export const permissionRules: HostGroup = {
  name: '29-permrules',
  cases: [
    ...Object.entries(RULE_CASES).map(([name, { sees }], index) => ({
      name,
      run: async () => {
        const newText = readNewText((await rules()).requests[index + 1]);
        const recorded = readRecordedText(fieldsAt(observed('29-permrules'), 'per')[name]);
        expect(newText.startsWith('[TOOL_RESULT ERR]')).toBe(recorded.startsWith('[TOOL_RESULT ERR]'));
        if (sees === undefined) expect(newText).toBe(recorded);
        else expect(newText).toMatch(sees);
      },
    })),
    { name: 'nohook: who is asked in which order', run: judgesInOrder },
  ],
};

async function judgesInOrder(): Promise<void> {
  const played = await rules();
  const recorded = listAt(observed('29-permrules'), 'events').map((each) => {
    const [event = '', about = ''] = String(each).split(':');
    return event === 'PermissionRequest' ? [`${event}:asked`] : lookedAt(about);
  });
  expect(listRecordedEvents(played)).toEqual(recorded.flat());
  expect(['DENYRULE_x', 'DENYRULE_CASE_allow_denyrule', 'ALLOWRULE_y'].map(played.has)).toEqual([
    false,
    false,
    true,
  ]);
}

/** A rewrite is looked at by the hook that did not make it, before the rules are. */
function lookedAt(name: string): readonly string[] {
  return Array.from({ length: name.startsWith('upd_') ? 2 : 1 }, () => 'PreToolUse:pre');
}

const MODES = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'];
const TOLD_EVENTS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'Stop'];

const inMode = Object.fromEntries(
  MODES.map((mode) => [
    `m-${mode}`,
    sharedScene(() => ({
      prompt: 'go',
      mode,
      model: 'claude-sonnet-4-6',
      settings: {
        hooks: Object.fromEntries(
          TOLD_EVENTS.map((event) => [event, [group([command(createRecorderCommand(event))])]]),
        ),
      },
      answer: bashCalls(['echo hi']),
    })),
  ]),
);

export const modes: HostGroup = {
  name: '30-modes',
  cases: listAt(observed('30-modes'), 'modes').map((row) => {
    const [mode, event, permissionMode, effort] = listAt(row);
    const scene = inMode[String(mode)];
    const run = async (): Promise<void> => {
      if (scene === undefined) return isNoMode(String(mode).replace('m-', ''));
      const { payloads: reports } = await scene();
      const mine = reports.filter(({ payload }) => payload['hook_event_name'] === event);
      expect(
        mine.map(({ payload }) => [payload['permission_mode'] ?? null, payload['effort'] ?? null]),
      ).toEqual([[permissionMode, effort]]);
    };
    return { name: `${String(mode)} ${String(event)}`, run };
  }),
};

/** Nothing runs in a mode that is not there. */
async function isNoMode(mode: string): Promise<void> {
  refused[mode] ??= runHookline(['run', '--permission-mode', mode, 'go'], {
    cwd: import.meta.dirname,
    home: null,
  });
  const { code, stderr } = await refused[mode];
  expect(code).toBe(2);
  expect(stderr).toMatch(new RegExp(`^hookline: --permission-mode must be .*, found "${mode}"$`, 'm'));
}

const refused: Record<string, ReturnType<typeof runHookline>> = {};
