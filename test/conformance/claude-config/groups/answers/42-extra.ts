import {
  bash,
  command,
  expectVerdict,
  type Group,
  hooks,
  type OpenFixture,
  type VerdictSummary,
} from '../../fixture.ts';

const denies = (reason: string): string =>
  JSON.stringify({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    },
  });

const PRETTY = JSON.stringify(JSON.parse(denies('pretty deny')), null, 2);
const DEFERS = '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}';
const NULLS = '{"continue":null,"systemMessage":null,"hookSpecificOutput":null}';

interface Edge {
  readonly commands: readonly string[];
  readonly expected: VerdictSummary;
}

const EDGES: Readonly<Record<string, Edge>> = {
  sig9: { commands: ['kill -9 $$'], expected: { failures: ['killed'] } },
  exit0err: { commands: ['echo careful >&2'], expected: {} },
  pretty: {
    commands: [`cat <<'END'\n${PRETTY}\nEND`],
    expected: { effect: 'deny', reasons: ['pretty deny'] },
  },
  nonutf: { commands: [String.raw`printf '\377\376 odd bytes'`], expected: {} },
  legacyapprove: {
    commands: [`echo '{"decision":"approve"}'`],
    expected: { effect: 'allow' },
  },
  exit255: { commands: ['exit 255'], expected: { failures: ['exit'] } },
  deferdeny: {
    commands: [`echo '${DEFERS}'`, `echo '${denies('deny over defer')}'`],
    expected: { effect: 'deny', reasons: ['deny over defer'] },
  },
  crlf: {
    commands: [String.raw`printf '%s\r\n' '${denies('crlf deny')}'`],
    expected: { effect: 'deny', reasons: ['crlf deny'] },
  },
  bom: {
    commands: [String.raw`printf '\357\273\277%s' '${denies('bom deny')}'`],
    expected: { effect: 'deny', reasons: ['bom deny'] },
  },
  nullvals: { commands: [`echo '${NULLS}'`], expected: { failures: ['output'] } },
  exit2stdoutonly: {
    commands: ['echo "reason on stdout"; exit 2'],
    expected: {
      effect: 'deny',
      reasons: ['[echo "reason on stdout"; exit 2]: No stderr output'],
    },
  },
  contdeny: {
    commands: [
      `echo '${denies('denied as well').replace('{', '{"continue":false,"stopReason":"s",')}'`,
    ],
    expected: {
      effect: 'deny',
      reasons: ['denied as well'],
      stop: { reason: 's', pending: 'run' },
    },
  },
};

export const extra: Group = {
  name: '42-extra',
  cases: [
    ...Object.entries(EDGES).map(([name, { commands, expected }]) => ({
      name,
      run: async (openFixture: OpenFixture) => {
        const { fire } = await openFixture({
          project: hooks(
            'PreToolUse',
            commands.map((text) => command(text)),
          ),
        });
        expectVerdict(await fire('PreToolUse', bash(`touch ${name}`)), expected);
      },
    })),
    { name: 'twoout', run: lastDeclaredOutput },
  ],
};

/** The first one ends last: declared order decides all the same. */
async function lastDeclaredOutput(openFixture: OpenFixture): Promise<void> {
  const output = (stdout: string): string =>
    `echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stdout":"${stdout}","stderr":"","interrupted":false,"isImage":false}}}'`;
  const { fire } = await openFixture({
    project: hooks('PostToolUse', [
      command(`while [ ! -e fast.done ]; do sleep 0.01; done; ${output('SLOW')}`),
      command(`${output('FAST')}; : > fast.done`),
    ]),
  });
  const verdict = await fire('PostToolUse', {
    ...bash('echo hi'),
    result: { response: { stdout: 'hi', stderr: '' }, text: 'hi', success: true },
  });
  expectVerdict(verdict, {
    output: { stdout: 'FAST', stderr: '', interrupted: false, isImage: false },
  });
}
