import { bash } from '../../fixture.ts';
import { recordedHooks } from '../../recorded-hooks.ts';

const UNUSABLE = { failures: ['output'] };

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
    legacy_deny: UNUSABLE,
    sysmsg: { messages: ['hello user'] },
    mismatch_event: UNUSABLE,
    no_event: UNUSABLE,
    badschema: UNUSABLE,
    extra_keys: { effect: 'deny', reasons: ['extra keys deny'] },
    bad_json: {},
    text_then_json: {},
    json_then_text: {},
    ws_json: { effect: 'deny', reasons: ['after ws'] },
    array_json: {},
    empty_obj: {},
  },
});
