import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonOf, runHookline } from './hookline.ts';
import { createTempWorkspace, write } from './temp-workspace.ts';

interface Hook {
  readonly command: string;
  readonly more?: object;
  /** What lies at `hook.sh`. */
  readonly script?: { readonly text: string; readonly mode: number };
}

const CALL = ['hooks', 'fire', 'PreToolUse', '--tool', 'Bash', '--json'];

/** Fires an event at the hook of a user who works in `my project`. */
async function fired({ command, more, script }: Hook) {
  const { home, directory } = createTempWorkspace();
  const project = path.join(directory, 'my project');
  mkdirSync(project);
  if (script !== undefined) chmodSync(write(project, 'hook.sh', script.text), script.mode);
  const hooks = [{ type: 'command', command, ...more }];
  write(home, '.claude/settings.json', JSON.stringify({ hooks: { PreToolUse: [{ hooks }] } }));
  const where = { cwd: project, home };
  const listed = jsonOf(await runHookline(['hooks', 'list', '--json'], where));
  const verdict = jsonOf(await runHookline(CALL, where));
  const [{ notes = [] }] = verdict.outcomes;
  return { project, verdict, notes, listed: listed.hooks[0].notes };
}

describe('a path with a blank in its name', () => {
  const GUARD = { text: '#!/bin/sh\necho no >&2\nexit 2\n', mode: 0o755 };

  it.each([
    '$CLAUDE_PROJECT_DIR/hook.sh',
    '${CLAUDE_PROJECT_DIR}/hook.sh',
    'sh ${CLAUDE_PROJECT_DIR:-.}/hook.sh --x "$CLAUDE_PROJECT_DIR"',
  ])('that %s does not quote is reported, before it runs and after', async (command) => {
    const { project, notes, listed } = await fired({ command, script: GUARD });
    const note = `$CLAUDE_PROJECT_DIR is ${JSON.stringify(project)} here, which the shell splits at its spaces: quote it in the command`;
    expect([notes, listed]).toEqual([[note], [note]]);
  });

  it.each([
    '"$CLAUDE_PROJECT_DIR"/hook.sh',
    '"${CLAUDE_PROJECT_DIR}/hook.sh"',
    'DIR=$CLAUDE_PROJECT_DIR; "$DIR/hook.sh"',
  ])('does no harm to %s', async (command) => {
    const { verdict, notes, listed } = await fired({ command, script: GUARD });
    expect([verdict.effect, notes, listed]).toEqual(['deny', [], []]);
  });
});

describe('a script that does not start', () => {
  const CARRIAGE_RETURN =
    'the first line of the script ends with a carriage return, so its interpreter is not found: save it with Unix line endings';

  it.each(['#!/bin/bash\r\nexit 2\r\n', '#!/usr/bin/env python3\r\nexit(2)\r\n'])(
    'because of the line ends of Windows: %j',
    async (text) => {
      const { notes } = await fired({ command: './hook.sh', script: { text, mode: 0o755 } });
      expect(notes).toEqual([CARRIAGE_RETURN]);
    },
  );

  it('because the program of its first line does not exist', async () => {
    const script = { text: '#!/opt/none/ruby\n', mode: 0o755 };
    const { project, notes } = await fired({ command: './hook.sh', script });
    expect(notes).toEqual([
      `${path.join(project, 'hook.sh')} exists, but /opt/none/ruby, which its first line names, does not`,
    ]);
  });

  it('because it is not executable', async () => {
    const script = { text: '#!/bin/sh\n', mode: 0o644 };
    const { notes } = await fired({ command: './hook.sh', script });
    expect(notes).toEqual([
      './hook.sh is not executable: chmod +x it, or put its interpreter in the command',
    ]);
  });

  it('because it does not exist needs no further hint', async () => {
    const { verdict, notes } = await fired({ command: './hook.sh' });
    expect([verdict.outcomes[0].failure.kind, notes]).toEqual(['exit', []]);
  });

  it('and is a link that leads nowhere', async () => {
    const { home, repo } = createTempWorkspace();
    symlinkSync('none.sh', path.join(repo, 'hook.sh'));
    const hooks = [{ type: 'command', command: './hook.sh' }];
    write(home, '.claude/settings.json', JSON.stringify({ hooks: { PreToolUse: [{ hooks }] } }));
    const verdict = jsonOf(await runHookline(CALL, { cwd: repo, home }));
    expect(verdict.outcomes[0].notes ?? []).toEqual([]);
  });
});

describe('a hook that may wake the session and is waited for', () => {
  it.each([
    ['echo 3 tests failed; exit 2', '3 tests failed'],
    ['echo log; echo 3 tests failed >&2; exit 2', '3 tests failed'],
    [`echo '{"decision":"block","reason":"as JSON"}'; exit 2`, 'as JSON'],
  ])('%s', async (command, reason) => {
    const { verdict, notes } = await fired({ command, more: { asyncRewake: true } });
    expect(verdict.reasons[0].text).toContain(reason);
    expect(notes).toEqual([]);
  });
});
