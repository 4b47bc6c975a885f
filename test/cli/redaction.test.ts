import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactObject } from '../../src/host/redact-object.ts';
import { jsonOf, runHookline } from './hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, trust, write } from './temp-workspace.ts';

const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
const BEARER = 'k3yOfSomeServiceThatNobodyKnows';
const FIRE = ['hooks', 'fire', 'PreToolUse', '--tool', 'Bash'];

function createWorkspaceWith(command: string, matcher?: string): TempWorkspace {
  const workspace = createTempWorkspace();
  const hooks = [{ type: 'command', command }];
  const group = matcher === undefined ? { hooks } : { matcher, hooks };
  const settings = { hooks: { PreToolUse: [group] } };
  write(workspace.home, '.claude/settings.json', JSON.stringify(settings));
  return workspace;
}

/** What each command shows without `--raw` and with it. */
async function printWithAndWithoutRaw(
  args: readonly string[],
  workspace: TempWorkspace,
): Promise<[string, string]> {
  const [clean, raw] = await Promise.all([
    runHookline(args, at(workspace)),
    runHookline([...args, '--raw'], at(workspace)),
  ]);
  return [clean.stdout + clean.stderr, raw.stdout + raw.stderr];
}

describe('a secret', () => {
  it.each([
    ['an argument', ['hooks', 'rm', `x-${TOKEN}`]],
    ['a file', ['hooks', 'fire', 'PreToolUse', '--facts', `/none/${TOKEN}`]],
    ['an address', ['plugin', 'install', `https://u:${BEARER}@127.0.0.1:9/x.tgz`]],
    ['a session', ['sessions', 'show', TOKEN]],
  ])('in the error about %s is redacted', async (_, args) => {
    const { code, stdout, stderr } = await runHookline(args, at(createTempWorkspace()));
    expect(code).not.toBe(0);
    expect(stdout + stderr).not.toMatch(new RegExp(`${TOKEN}|${BEARER}`));
  });

  it.each([
    [
      'in stderr of a hook that refuses',
      `cat > /dev/null; printf 'see:\\n%s' ${TOKEN} >&2; exit 2`,
    ],
    ['in stderr of a hook that fails', `cat > /dev/null; printf 'see:\\n%s' ${TOKEN} >&2; exit 1`],
    [
      'in context',
      `cat > /dev/null; echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"${TOKEN}"}}'`,
    ],
  ])('%s is not printed by hooks fire, except with --raw', async (_, command) => {
    const workspace = createWorkspaceWith(command);
    for (const args of [FIRE, [...FIRE, '--json']]) {
      const [clean, raw] = await printWithAndWithoutRaw(args, workspace);
      expect(clean).not.toContain(TOKEN);
      expect(clean).toContain('[redacted]');
      expect(raw).toContain(TOKEN);
    }
  });

  it.each([
    ['a known token', `curl -H 'X: ${TOKEN}' example.org`, TOKEN],
    ['any bearer token', `curl -H 'Authorization: Bearer ${BEARER}' example.org`, BEARER],
    [
      'one where the line is cut',
      `curl --fail --silent --show-error --max-time 10 -H 'Accept: */*' -H 'X: ${TOKEN}' example.org`,
      TOKEN.slice(0, 12),
    ],
  ])(
    'in a command, %s, is not printed by hooks list, except with --raw',
    async (_, command, secret) => {
      const workspace = createWorkspaceWith(command);
      for (const args of [
        ['hooks', 'list'],
        ['hooks', 'list', '--json'],
      ]) {
        const [clean, raw] = await printWithAndWithoutRaw(args, workspace);
        expect(clean).not.toContain(secret);
        expect(clean).toContain('[redacted]');
        expect(raw).toContain(secret);
      }
    },
  );

  it('in a matcher or in the tool’s input is not printed by hooks explain', async () => {
    const explain = ['hooks', 'explain', 'PreToolUse', '--tool', 'Bash'];
    const input = ['--input', JSON.stringify({ command: `echo ${TOKEN}` })];
    const [misfit, fit] = [createWorkspaceWith('true', TOKEN), createWorkspaceWith('true')];
    for (const json of [[], ['--json']]) {
      const [clean, raw] = await printWithAndWithoutRaw([...explain, ...json], misfit);
      expect([clean.includes(TOKEN), raw.includes(TOKEN)]).toEqual([false, true]);
      const [cleanInput, rawInput] = await printWithAndWithoutRaw(
        [...explain, ...input, ...json],
        fit,
      );
      expect([cleanInput.includes(TOKEN), rawInput.includes(TOKEN)]).toEqual([false, true]);
    }
  });

  it('in what a user trusts is printed for review', async () => {
    const settings = {
      hooks: { Stop: [{ hooks: [{ type: 'command', command: `echo ${TOKEN}` }] }] },
    };
    const workspace = createTempWorkspace({ '.claude/settings.json': JSON.stringify(settings) });
    const { stdout } = await runHookline(['trust', '--yes'], at(workspace));
    expect(stdout).toContain(TOKEN);
  });

  it('in a file hook’s answer is not printed either', async () => {
    const workspace = createTempWorkspace({
      '.clinerules/hooks/PreToolUse': `#!/bin/sh\necho '{"cancel":true,"errorMessage":"${TOKEN}"}'\n`,
    });
    trust(workspace);
    const result = await runHookline([...FIRE, '--json'], at(workspace));
    expect(jsonOf(result).reasons).toEqual([
      { hook: 'cline:workspace:PreToolUse', text: '[redacted]' },
    ]);
  });
});

describe('withoutSecrets', () => {
  it('keeps all that is no secret, and does not change its argument', async () => {
    await fc.assert(
      fc.asyncProperty(fc.object({ maxDepth: 3, withNullPrototype: false }), async (value) => {
        const before = structuredClone(value);
        const clean = await redactObject({ value, secret: [TOKEN] }, {});
        expect(clean).toEqual({ value, secret: ['[redacted]'] });
        expect(value).toEqual(before);
      }),
      { numRuns: 30 },
    );
  });
});
