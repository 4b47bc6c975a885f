import { bash } from '../../fixture.ts';
import { recordedHooks } from '../../recorded-hooks.ts';

const UNUSABLE = { failures: ['output'] };
const refusedAsRead = (problem: string, refusal: string) => ({
  effect: 'deny' as const,
  reasons: [`${problem}; refused, because one reading of it says ${refusal}`],
  failures: ['output'],
});
const NOT_ALONE =
  'its JSON was not read: stdout must hold nothing but one JSON object; send log lines to stderr';

export const preCases = recordedHooks({
  group: '03-pre-cases',
  event: 'PreToolUse',
  facts: (name) => ({ ...bash(`echo CASE_${name}`), permissionMode: 'bypassPermissions' }),
  expected: {
    exit2: { effect: 'deny', reasons: ['[$HOOK]: blocked by stderr'] },
    exit2_json_allow: {
      effect: 'deny',
      reasons: ['[$HOOK]: stderr wins?'],
      context: ['ctx with exit2'],
    },
    exit2_json_deny: { effect: 'deny', reasons: ['json deny reason'] },
    exit2_noerr: { effect: 'deny', reasons: ['[$HOOK]: No stderr output'] },
    exit2_badschema: { effect: 'deny', reasons: ['[$HOOK]: stderr for badschema'] },
    exit1: { failures: ['exit'] },
    exit1_json_deny: { effect: 'deny', reasons: ['deny with exit1'] },
    json_deny: { effect: 'deny', reasons: ['policy says no'], context: ['deny ctx'] },
    json_deny_noreason: { effect: 'deny', reasons: ['Blocked by hook'] },
    json_ask: { effect: 'ask', reasons: ['please ask'] },
    json_allow_ctx: { effect: 'allow', context: ['allow ctx'] },
    ctx_only: { context: ['ctx only'] },
    upd: { effect: 'allow', input: { command: 'echo REPLACED' } },
    upd_nodecision: { input: { command: 'echo REPLACED2' } },
    upd_invalid: { effect: 'allow', input: { nope: 1 } },
    legacy_block: { effect: 'deny', reasons: ['legacy block reason'] },
    legacy_approve: { effect: 'allow', reasons: ['legacy approve'] },
    legacy_deny: refusedAsRead(
      'expected "decision" to be "approve" or "block", found "deny"; use "decision": "block", or "permissionDecision": "deny" in hookSpecificOutput',
      '"decision": deny',
    ),
    sysmsg: { messages: ['hello user'] },
    mismatch_event: UNUSABLE,
    no_event: refusedAsRead(
      'expected "hookSpecificOutput.hookEventName" to be "PreToolUse", and it is missing',
      '"permissionDecision": deny',
    ),
    badschema: UNUSABLE,
    extra_keys: { effect: 'deny', reasons: ['extra keys deny'] },
    bad_json: UNUSABLE,
    text_then_json: refusedAsRead(NOT_ALONE, '"permissionDecision": deny'),
    json_then_text: refusedAsRead(
      'its JSON was not read: line 2, column 1: text after the end of the JSON',
      '"permissionDecision": deny',
    ),
    ws_json: { effect: 'deny', reasons: ['after ws'] },
    array_json: refusedAsRead(
      'expected one JSON object such as {"decision": "block"}, found an array',
      '"decision": block',
    ),
    empty_obj: {},
  },
});
