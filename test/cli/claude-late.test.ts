import { describe, expect, it } from 'vitest';
import { jsonOf, resultOf, runHookline, startHookline } from './hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, write } from './temp-workspace.ts';

const FIRE = ['hooks', 'fire', 'PostToolUse', '--tool', 'Bash'];

/** A place whose owner has these hooks for PostToolUse. */
function createWorkspaceWith(...hooks: readonly object[]): TempWorkspace {
  const workspace = createTempWorkspace();
  const settings = { hooks: { PostToolUse: [{ hooks }] } };
  write(workspace.home, '.claude/settings.json', JSON.stringify(settings));
  return workspace;
}

function inBackground(command: string): object {
  return { type: 'command', command, async: true };
}

const ID = 'claude:user:PostToolUse:cat';

describe('a hook that fails in the background', () => {
  const createFailingWorkspace = (): TempWorkspace =>
    createWorkspaceWith(inBackground('cat > /dev/null; echo lost >&2; exit 1'));

  it('is reported after the verdict, and counts under --strict', async () => {
    const where = at(createFailingWorkspace());
    const [lenient, strict] = await Promise.all([
      runHookline(FIRE, where),
      runHookline([...FIRE, '--strict'], where),
    ]);
    expect([lenient.code, strict.code]).toEqual([0, 3]);
    expect(lenient.stdout.replaceAll(/[\d.]+ m?s$/gm, '1 ms')).toBe(
      [
        'PostToolUse: pass (1 hook run)',
        `  ✓ ${ID}: running in the background 1 ms`,
        'Background hooks:',
        `  ✗ ${ID}: failed 1 ms`,
        '      exit: exited with code 1: lost',
        '      Exit with 0 to agree, or with 2 and a reason on stderr to refuse; any other exit code is a failure.',
        '',
      ].join('\n'),
    );
    expect(lenient.stderr).toBe('');
  });

  it('is in the one JSON document', async () => {
    const result = await runHookline([...FIRE, '--json', '--strict'], at(createFailingWorkspace()));
    expect(result.code).toBe(3);
    expect(jsonOf(result)).toMatchObject({
      effect: 'pass',
      outcomes: [{ hook: ID, status: 'background' }],
      late: [
        {
          hook: ID,
          status: 'failed',
          exitCode: 1,
          failure: { kind: 'exit', message: 'exited with code 1: lost' },
          context: null,
          message: null,
          wakes: false,
        },
      ],
    });
  });
});

describe('the answer of a background hook', () => {
  const answer = JSON.stringify({
    systemMessage: 'for you',
    hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'for the model' },
  });

  it('is printed with its recipient', async () => {
    const where = at(createWorkspaceWith(inBackground(`cat > /dev/null; echo '${answer}'`)));
    const [readable, json] = await Promise.all([
      runHookline(FIRE, where),
      runHookline([...FIRE, '--json'], where),
    ]);
    expect(readable.stdout.split('\n').slice(2, 6)).toEqual([
      'Background hooks:',
      `  context for the model: for the model (${ID})`,
      `  message for you: for you (${ID})`,
      expect.stringMatching(/^ {2}✓ claude:user:PostToolUse:cat: answered \d/),
    ]);
    expect(jsonOf(json).late).toMatchObject([
      { status: 'decided', context: 'for the model', message: 'for you', wakes: false },
    ]);
  });

  it('is printed with a note that it would wake the session', async () => {
    const hook = inBackground('cat > /dev/null; echo up >&2; exit 2');
    const where = at(createWorkspaceWith({ ...hook, asyncRewake: true }));
    const [readable, json] = await Promise.all([
      runHookline(FIRE, where),
      runHookline([...FIRE, '--json', '--strict'], where),
    ]);
    expect(readable.stdout).toContain('answered (wakes an idle session)');
    expect(json.code).toBe(0);
    expect(jsonOf(json).late).toMatchObject([{ context: 'up', wakes: true }]);
  });
});

it('is not waited for when the user interrupts', async () => {
  const child = startHookline(FIRE, at(createWorkspaceWith(inBackground('exec sleep 600'))));
  child.stdin?.end();
  child.stdout?.once('data', () => child.kill('SIGINT'));
  const { code, stdout } = await resultOf(child);
  expect(code).toBe(130);
  expect(stdout).toContain('running in the background');
});
