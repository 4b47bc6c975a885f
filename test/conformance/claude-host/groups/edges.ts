import { expect } from 'vitest';
import { command, group, hooks } from '../../claude-config/fixture.ts';
import { fieldsAt, listAt, observed } from '../../claude-config/recording.ts';
import { bashCalls, type HostGroup, play, type Scene, sharedScene } from '../play.ts';
import { readNewText, readRecordedText } from '../requests.ts';

const denies = (reason: string): string =>
  JSON.stringify({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    },
  });
const DEFERS = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}';
const NULLS = '{"continue":null,"systemMessage":null,"hookSpecificOutput":null}';

/** The recorded order, but for the two that end the run or are about another event. */
const EDGES: Readonly<Record<string, readonly string[]>> = {
  sig9: ['kill -9 $$'],
  exit0err: ['echo careful >&2'],
  pretty: [`cat <<'END'\n${JSON.stringify(JSON.parse(denies('pretty deny')), null, 2)}\nEND`],
  nonutf: [String.raw`printf '\377\376 odd bytes'`],
  legacyapprove: [`echo '{"decision":"approve"}'`],
  exit255: ['exit 255'],
  deferdeny: [`echo '${DEFERS}'`, `echo '${denies('deny over defer')}'`],
  crlf: [String.raw`printf '%s\r\n' '${denies('crlf deny')}'`],
  bom: [String.raw`printf '\357\273\277%s' '${denies('bom deny')}'`],
  nullvals: [`echo '${NULLS}'`],
  exit2stdoutonly: ['echo "reason on stdout"; exit 2'],
  contdeny: [
    `echo '${denies('denied as well').replace('{', '{"continue":false,"stopReason":"s",')}'`,
  ],
};
const NAMES = Object.keys(EDGES);

const edges = sharedScene(() => ({
  prompt: 'go',
  settings: hooks(
    'PreToolUse',
    Object.entries(EDGES).flatMap(([name, texts]) =>
      texts.map((text) => command(text, { if: `Bash(touch ${name})` })),
    ),
  ),
  answer: bashCalls(NAMES.map((name) => `touch ${name}`)),
}));

export const extra: HostGroup = {
  name: '42-extra',
  cases: [
    ...NAMES.slice(0, -1).map((name, index) => ({
      name,
      run: async () => {
        const { requests, has } = await edges();
        const recordedText = readRecordedText(fieldsAt(observed('42-extra'), 'per')[name]);
        expect(readNewText(requests[index + 1])).toBe(recordedText);
        expect(has(name)).toBe(!recordedText.includes('ERR'));
      },
    })),
    { name: 'contdeny', run: deniesAndEnds },
  ],
};

/** It stops the run as well, so there is no further request. */
async function deniesAndEnds(): Promise<void> {
  const { requests, result, has, code } = await edges();
  const recorded = fieldsAt(observed('42-extra'), 'result');
  const denied = listAt(recorded, 'permission_denials').map((each) => fieldsAt(each)['tool_input']);
  expect(result.denials.map(({ input }) => input)).toEqual(denied);
  const { ending, reason } = result;
  expect({ code, ending, reason, requests: requests.length, ran: has('contdeny') }).toEqual({
    code: 1,
    ending: 'stopped_by_hook',
    reason: 's',
    requests: NAMES.length,
    ran: false,
  });
}

const decides = (behavior: string, message?: string): string =>
  `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior, message } } })}'`;
const AFTER_FAST = 'while [ ! -e fast.done ]; do sleep 0.01; done; ';
const DONE = '; : > fast.done';

interface Misc {
  readonly scene: Pick<Scene, 'settings' | 'mode'>;
  /** Where it differs. */
  readonly last?: string;
  readonly end: { readonly ending: string; readonly text: string; readonly reason: string | null };
}

const FINAL = { ending: 'done', text: 'final', reason: null };

const MISC: Readonly<Record<string, Misc>> = {
  toplevel_ctx: {
    scene: { settings: hooks('PreToolUse', [command(`echo '{"additionalContext":"x"}'`)]) },
    end: FINAL,
  },
  pr_allow_deny: {
    scene: {
      mode: 'default',
      settings: hooks('PermissionRequest', [
        command(`${decides('allow')}${DONE}`),
        command(`${AFTER_FAST}${decides('deny', 'SLOW DENY')}`),
      ]),
    },
    last: '[TOOL_RESULT ERR] SLOW DENY',
    end: FINAL,
  },
  pr_deny_allow: {
    scene: {
      mode: 'default',
      settings: hooks('PermissionRequest', [
        command(`${AFTER_FAST}${decides('allow')}`),
        command(`${decides('deny', 'FAST DENY')}${DONE}`),
      ]),
    },
    end: FINAL,
  },
  ups_block_and_ctx: {
    scene: {
      settings: hooks('UserPromptSubmit', [
        command('echo some context'),
        command('sleep 0.2; echo no >&2; exit 2'),
      ]),
    },
    end: {
      ending: 'refused',
      text: '',
      reason:
        'UserPromptSubmit operation blocked by hook:\n[sleep 0.2; echo no >&2; exit 2]: no\n\nOriginal prompt: RUN_ups_block_and_ctx',
    },
  },
  stop_block_contfalse: {
    scene: {
      settings: {
        hooks: {
          Stop: [
            group([
              command(`echo '{"decision":"block","reason":"more"}'`),
              command(`echo '{"continue":false,"stopReason":"enough"}'`),
            ]),
          ],
        },
      },
    },
    end: { ending: 'done', text: 'final', reason: 'enough' },
  },
};

export const misc: HostGroup = {
  name: '49-misc2',
  cases: Object.entries(MISC).map(([name, { scene, last, end }]) => ({
    name,
    run: async () => {
      const { requests, result } = await play({
        ...scene,
        prompt: `RUN_${name}`,
        answer: bashCalls(['touch made']),
      });
      const recorded = listAt(observed('49-misc2'), 'runs')
        .map((each) => fieldsAt(each))
        .find((each) => each['n'] === name);
      expect(requests.length).toBe(recorded?.['nreq']);
      const recordedText = listAt(recorded?.['last']).map(readRecordedText).at(-1);
      expect(requests.map(readNewText).at(-1)).toBe(last ?? recordedText);
      const { ending, text, reason } = result;
      expect({ ending, text, reason }).toEqual(end);
    },
  })),
};
