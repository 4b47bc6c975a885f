import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../src/hooks/decision.ts';
import { jsonOf, runHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, HOOKS, trust, write } from '../cli/temp-workspace.ts';
import { bash, DONE, runScript } from '../e2e/agent-run.ts';

const MISSING = 'no-such-program-here';
const FIRE = ['hooks', 'fire', 'PreToolUse', '--tool', 'Bash', '--input', '{"command":"ls"}'];

/** Guards that ask a program which is not there, and let everything pass then. */
const GUARDS: Readonly<Record<string, string>> = {
  sh: `#!/bin/sh\nif ${MISSING} -e .x; then echo '{"cancel":true}'; fi\nexit 0\n`,
  bash: `#!/usr/bin/env bash\nname=$(${MISSING} -r .tool)\n[ "$name" = rm ] && exit 2\nexit 0\n`,
  env: `#!/bin/sh\n/usr/bin/env ${MISSING} || true\n`,
  node: `#!/bin/sh\nnode -e 'require("${MISSING}")' || true\n`,
  python: `#!/bin/sh\npython3 -c 'import no_such_module_here' || true\n`,
  merged: `#!/bin/sh\n${MISSING} 2>&1 || true\n`,
  allowing: `#!/bin/sh\n${MISSING} || echo '{"cancel": false}'\n`,
};

describe('a guard that ends with 0 although a program or module is missing', () => {
  it.each(Object.keys(GUARDS))('is marked as suspicious: %s', async (name) => {
    const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: GUARDS[name] ?? '' });
    trust(workspace);
    const verdict: Verdict = jsonOf(await runHookline([...FIRE, '--json'], at(workspace)));
    expect(verdict.effect).toBe('pass');
    expect(verdict.messages.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^suspicious: exited with code 0, but something that it needs is miss/),
    ]);
    expect(verdict.outcomes[0]?.notes.join('\n')).toContain('suspicious: ');
  });

  it('is a failure that refuses under onFailure "block"', async () => {
    const command = `${MISSING} -e .x && exit 2; exit 0`;
    const handler = { type: 'command', command, onFailure: 'block' };
    const settings = { hooks: { PreToolUse: [{ hooks: [handler] }] } };
    const workspace = createTempWorkspace();
    write(workspace.home, '.claude/settings.json', JSON.stringify(settings));
    const verdict: Verdict = jsonOf(await runHookline([...FIRE, '--json'], at(workspace)));
    expect(verdict.effect).toBe('deny');
    expect(verdict.outcomes[0]).toMatchObject({ status: 'failed', failure: { kind: 'exit' } });
    expect(verdict.reasons[0]?.text).toContain(MISSING);
  });

  it('is a failure that refuses when the user’s configuration says so', async () => {
    const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: GUARDS['sh'] ?? '' });
    trust(workspace);
    const config = {
      hooks: { overrides: { 'cline:workspace:PreToolUse': { onFailure: 'block' } } },
    };
    write(workspace.home, '.hookline/config.json', JSON.stringify(config));
    expect(await runHookline(FIRE, at(workspace))).toMatchObject({ code: 1 });
  });

  it('does not allow what it could not check', async () => {
    const allow = {
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' },
    };
    const command = `${MISSING}; echo '${JSON.stringify(allow)}'`;
    const settings = { hooks: { PreToolUse: [{ hooks: [{ type: 'command', command }] }] } };
    const workspace = createTempWorkspace();
    write(workspace.home, '.claude/settings.json', JSON.stringify(settings));
    const verdict: Verdict = jsonOf(await runHookline([...FIRE, '--json'], at(workspace)));
    expect(verdict.effect).toBe('pass');
  });

  it('warns in fire and in run', async () => {
    const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: GUARDS['sh'] ?? '' });
    trust(workspace);
    const fired = await runHookline(FIRE, at(workspace));
    expect(fired.stdout).toContain('suspicious: exited with code 0');
    const run = await runScript(workspace, [bash('echo hi'), DONE], ['go']);
    expect(run.stderr).toContain('suspicious: exited with code 0');
  });
});

it('a program’s message about its argument is not suspicious', async () => {
  const guard = '#!/bin/sh\ncat no-such-file-here || true\nexit 0\n';
  const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: guard });
  trust(workspace);
  const verdict: Verdict = jsonOf(await runHookline([...FIRE, '--json'], at(workspace)));
  expect({ messages: verdict.messages, notes: verdict.outcomes[0]?.notes }).toEqual({
    messages: [],
    notes: [],
  });
});
