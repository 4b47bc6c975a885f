import path from 'node:path';
import { expect, test } from 'vitest';
import { PERMISSION_MODES } from '../../src/permissions/permissions.ts';
import {
  COMMAND_FILES,
  COMMAND_RULES,
  COMMAND_TABLE,
  createCommandLinks,
} from './command-table.ts';
import { bash, createMachine, open } from './session.ts';

function createCommandMachine() {
  const files = Object.entries(COMMAND_FILES).map(([file, text]) => [path.join('ws', file), text]);
  const machine = createMachine(Object.fromEntries(files));
  createCommandLinks(machine.root);
  return machine;
}

test.each(PERMISSION_MODES)('every command of the table is judged as it says in %s', (mode) => {
  const machine = createCommandMachine();
  const session = open(machine, { mode, rules: COMMAND_RULES });
  const judged = COMMAND_TABLE.map(({ command }) => ({
    command,
    effect: session.judge(bash(command, machine.root)).effect,
  }));
  const expected = COMMAND_TABLE.map(({ command, effects }) => ({
    command,
    effect: effects[mode],
  }));
  expect(judged).toEqual(expected);
});

test('the table has enough of both kinds, each command once, and no attack that is allowed', () => {
  const attacks = COMMAND_TABLE.filter(({ isAttack }) => isAttack);
  expect(attacks.length).toBeGreaterThan(400);
  expect(COMMAND_TABLE.length - attacks.length).toBeGreaterThan(120);
  expect(new Set(COMMAND_TABLE.map(({ command }) => command)).size).toBe(COMMAND_TABLE.length);
  expect(attacks.filter(({ effects }) => effects.bypassPermissions === 'allow')).toEqual([]);
});
