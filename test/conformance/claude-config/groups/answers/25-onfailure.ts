import { expect } from 'vitest';
import { bash, command, expectVerdict, type Group, hooks, type OpenFixture } from '../../fixture.ts';

interface Failing {
  readonly command: string;
  readonly args?: readonly string[];
  readonly timeout?: number;
  /** The text for the model after the command in brackets; null when nothing is refused. */
  readonly says: string | null;
}

const FAILED = 'failed; blocking because onFailure is "block"';

const FAILING: Readonly<Record<string, Failing>> = {
  exit1: { command: 'echo errtext >&2; exit 1', says: `${FAILED}\nerrtext` },
  missing: {
    command: '/nonexistent/x.sh',
    says: `${FAILED}\n/bin/sh: 1: /nonexistent/x.sh: not found`,
  },
  timeout: {
    command: 'sleep 60',
    timeout: 0.3,
    says: 'timed out; blocking because onFailure is "block"',
  },
  badjson: { command: `echo '{"decision":'`, says: FAILED },
  badschema: { command: `echo '{"decision":"zzz"}'`, says: FAILED },
  plain0: { command: 'echo fine', says: null },
  exit1json: {
    command: `echo '{"systemMessage":"m"}'; exit 1`,
    says: `${FAILED}\nNo stderr output`,
  },
  missingexec: { command: '/nonexistent/y', args: [], says: FAILED },
};

export const onFailure: Group = {
  name: '25-onfailure',
  cases: [
    ...Object.entries(FAILING).map(([name, { command: text, says, ...more }]) => ({
      name,
      run: async (openFixture: OpenFixture) => {
        const { fire } = await openFixture({
          project: hooks('PreToolUse', [command(text, { ...more, onFailure: 'block' })]),
        });
        const { effect, reasons } = await fire('PreToolUse', bash(`echo ${name}`));
        if (says === null) {
          return expect({ effect, reasons }).toEqual({ effect: 'pass', reasons: [] });
        }
        expect(effect).toBe('deny');
        // The message about a missing program depends on the shell.
        const shell = (line: string): string =>
          line.replace(/^.*?: (?:\d+: )?(?=\/nonexistent)/mu, '');
        const start = shell(`[${text}]: ${says}`);
        expect(reasons.map((reason) => shell(reason.text).slice(0, start.length))).toEqual([start]);
      },
    })),
    { name: 'ups', run: refusesPrompt },
  ],
};

async function refusesPrompt(openFixture: OpenFixture): Promise<void> {
  const text = '[ -n "$UPSFAIL" ] && exit 1; exit 0';
  const { fire } = await openFixture({
    project: hooks('UserPromptSubmit', [command(text, { onFailure: 'block' })]),
    env: { UPSFAIL: '1' },
  });
  expectVerdict(await fire('UserPromptSubmit'), {
    effect: 'deny',
    reasons: [`[${text}]: ${FAILED}\nNo stderr output`],
    failures: ['exit'],
  });
}
