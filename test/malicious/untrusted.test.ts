import { describe, expect, it } from 'vitest';
import { type HooklineResult, runHookline } from '../cli/hookline.ts';
import { hasProgram } from '../cli/temp-workspace.ts';
import { ATTACKS, homeOf, readAttack, prepareAttack } from './attack.ts';

const EDIT = '{"path":"example.txt","diff":""}';

const COMMANDS = [
  ['hooks', 'list'],
  ['hooks', 'fire', 'PreToolUse', '--tool', 'replace_in_file', '--input', EDIT, '--strict'],
  ['hooks', 'explain', 'PreToolUse', '--json'],
  ['hooks', 'test', '.'],
  ['doctor'],
  ['mcp', 'list'],
  ['lock', '--check'],
  ['trust'],
] as const;

const hasMkfifo = hasProgram('mkfifo');

describe.each(ATTACKS)('%s', (name) => {
  const { about, mustNot, fifos } = readAttack(name);
  const isImpossible = fifos !== undefined && !hasMkfifo;
  const title = isImpossible ? 'is skipped: there is no mkfifo here' : `${about} ${mustNot}`;

  it.skipIf(isImpossible)(title, async () => {
    const attackWorkspace = prepareAttack(name);
    const before = homeOf(attackWorkspace);
    const results = await Promise.all(
      COMMANDS.map((command) => runHookline(command, attackWorkspace.options)),
    );
    const [list, fire] = results;
    const trust = results.at(-1);
    const { says = 'untrusted', notes = [], strict = 3 } = attackWorkspace.attack;

    expect(homeOf(attackWorkspace)).toEqual(before);
    expect(fire).toMatchObject({ code: strict });
    if (says === 'untrusted') expect(trust).toMatchObject({ code: 1 });
    if (says !== null) expect(list?.stdout).toContain(says);
    for (const note of notes) expect(`${list?.stdout}${list?.stderr}`).toContain(note);
    for (const result of results) expectCalm(result);
  });
});

/** No crash, and nothing in the output that steers a terminal. */
function expectCalm({ code, stdout, stderr }: HooklineResult): void {
  expect([0, 1, 2, 3]).toContain(code);
  expect(stderr).not.toMatch(/^ {4}at /m);
  const steering = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u;
  expect(stdout).not.toMatch(steering);
  expect(stderr).not.toMatch(steering);
}
