import { expect, test } from 'vitest';
import { bindUnit } from '../../src/trust/bind-unit.ts';
import { createDirectory, GUARD, HOOKS, unitOf, write } from './workspace.ts';

test.each([
  'run.log',
  'history.jsonl',
  'server.pid',
  'seen.sqlite',
  '.DS_Store',
  'logs/today.txt',
  'state/last.json',
  '__pycache__/common.cpython-311.pyc',
])('%s, which a hook writes beside itself, is listed and not bound', (name) => {
  const root = createDirectory({ [GUARD]: '#!/bin/sh\n' });
  const before = bindUnit(unitOf(root));
  write(root, `${HOOKS}/${name}`, 'one');
  const after = bindUnit(unitOf(root));
  expect(after.digest).toBe(before.digest);
  expect(after.unbound.join('\n')).toContain(`${HOOKS}/${name.split('/')[0]}`);
});

test.each(['common.py', 'lib/log.sh', 'rules.json', 'yarn.lock', 'logs.sh'])(
  '%s beside a hook is bound',
  (name) => {
    const root = createDirectory({ [GUARD]: '#!/bin/sh\n', [`${HOOKS}/${name}`]: 'one' });
    const before = bindUnit(unitOf(root));
    write(root, `${HOOKS}/${name}`, 'two');
    expect(bindUnit(unitOf(root)).digest).not.toBe(before.digest);
  },
);
