import { expect } from 'vitest';
import { command, hooks } from '../../claude-config/fixture.ts';
import { fieldsAt, namedCases, observed } from '../../claude-config/recording.ts';
import { caseFiles, recordedActs } from '../hook-programs.ts';
import { bashCalls, type HostGroup, play, sharedScene } from '../play.ts';
import { attributed, readNewText, readRecordedText } from '../requests.ts';

interface CallGroup {
  readonly group: string;
  readonly event: 'PreToolUse' | 'PostToolUse';
  /** What the recording calls the hooks, and their arguments in its commands. */
  readonly hooks: Readonly<Record<string, string>>;
  /** The id of the first. */
  readonly id: string;
  /** What differs on purpose. */
  readonly own: Readonly<Record<string, string>>;
  /** Cases that are looked at elsewhere, because they end the run. */
  readonly without?: readonly string[];
}

/** One call of Bash after the other in one run, as it was recorded; what the model saw of each. */
function callGroup(input: CallGroup): HostGroup {
  const { group, event, own, id } = input;
  const names = namedCases(group).filter((name) => input.without?.includes(name) !== true);
  const handlers = Object.values(input.hooks).map((key) => command(`node case.mjs ${key}`));
  const scene = sharedScene(() => ({
    prompt: 'go',
    settings: hooks(event, handlers, 'Bash'),
    files: caseFiles(recordedActs(group, input.hooks)),
    answer: bashCalls(names.map((name) => `echo CASE_${name}`)),
  }));
  const cases = names.map((name, index) => ({
    name,
    run: async () => {
      const { requests, result, code } = await scene();
      const recorded = readRecordedText(fieldsAt(observed(group), name)['model_sees']);
      expect(readNewText(requests[index + 1])).toBe(own[name] ?? attributed(recorded, id));
      expect({ code, text: result.text }).toEqual({ code: 0, text: 'final' });
    },
  }));
  return { name: group, cases };
}

const REWRITE = 'PreToolUse hook for Bash returned updatedInput that failed schema validation: ';

const NOT_ALONE =
  'its JSON was not read: stdout must hold nothing but one JSON object; send log lines to stderr';

export const preCases = callGroup({
  group: '03-pre-cases',
  event: 'PreToolUse',
  hooks: { hook: 'c' },
  id: 'claude:user:PreToolUse:case.mjs',
  own: {
    upd_invalid: `[TOOL_RESULT ERR] ${REWRITE}expected "command" to be text, found nothing\nThe tool input from the model was valid; the hook's rewrite of it was not.`,
    legacy_deny: refusedAsRead(
      'expected "decision" to be "approve" or "block", found "deny"; use "decision": "block", or "permissionDecision": "deny" in hookSpecificOutput',
      '"decision": deny',
    ),
    no_event: refusedAsRead(
      'expected "hookSpecificOutput.hookEventName" to be "PreToolUse", and it is missing',
      '"permissionDecision": deny',
    ),
    text_then_json: refusedAsRead(NOT_ALONE, '"permissionDecision": deny'),
    json_then_text: refusedAsRead(
      'its JSON was not read: line 2, column 1: text after the end of the JSON',
      '"permissionDecision": deny',
    ),
    array_json: refusedAsRead(
      'expected one JSON object such as {"decision": "block"}, found an array',
      '"decision": block',
    ),
  },
});

function refusedAsRead(problem: string, refusal: string): string {
  return `[TOOL_RESULT ERR] PreToolUse:Bash hook error: ${problem}; refused, because one reading of it says ${refusal}`;
}

export const multi = callGroup({
  group: '05-multi',
  event: 'PreToolUse',
  hooks: { a: 'a', b: 'b' },
  id: 'claude:user:PreToolUse:case.mjs',
  own: {
    two_deny: '[TOOL_RESULT ERR] PreToolUse:Bash hook error: A deny\nB deny',
    two_exit2:
      '[TOOL_RESULT ERR] PreToolUse:Bash hook error: [node case.mjs a]: A exit2\n[node case.mjs b]: B exit2',
    upd_slow_first: '[TOOL_RESULT] FROM_B',
    two_ctx:
      '[TOOL_RESULT] CASE_two_ctx\n\n<system-reminder>\nPreToolUse:Bash hook additional context: ctx A\n\nctx B\n(from claude:user:PreToolUse:case.mjs, claude:user:PreToolUse:case.mjs~2)\n</system-reminder>',
  },
});

const afterCalls = callGroup({
  group: '06-post',
  event: 'PostToolUse',
  hooks: { hook: 'c' },
  id: 'claude:user:PostToolUse:case.mjs',
  own: {},
  without: ['cont'],
});

export const post: HostGroup = {
  name: afterCalls.name,
  cases: [...afterCalls.cases, { name: 'cont', run: endsAfterCall }],
};

async function endsAfterCall(): Promise<void> {
  const { result, requests, code } = await play({
    prompt: 'go',
    settings: hooks('PostToolUse', [command('node case.mjs c')], 'Bash'),
    files: caseFiles(recordedActs('06-post', { hook: 'c' })),
    answer: bashCalls(['echo CASE_cont']),
  });
  const { ending, reason, text } = result;
  expect({ code, ending, reason, text, requests: requests.length }).toEqual({
    code: 1,
    ending: 'stopped_by_hook',
    reason: 'post stop',
    text: fieldsAt(observed('06-post'), 'final')['result'],
    requests: 1,
  });
}
