import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readSedArguments } from '../../../src/permissions/rules/sed-script.ts';
import { createDirectory } from '../../base/directory.ts';

test.each([
  [['s/a/b/']],
  [['-n', '1,20p']],
  [['-e', '1d', '-e', 's|a|b|g;p']],
  [['/start/,/end/{s/a/b/;d}']],
  [[':a;N;$!ba;s/\\n/ /g']],
  [['1i\\\ntext\nd']],
  [['y/abc/def/']],
  [['s/[[:space:]]*$//;s/\\[x\\]/[y]/2gI']],
  [['-i.bak', '\\,/usr,d', 'file']],
  [['$!N;P;D # comment']],
])('sed %j only changes text', (args) => {
  expect(readSedArguments(args)).toEqual({ mayRun: false, files: [] });
});

test.each([
  [['1e touch ran', 'file']],
  [['s_text_touch ran_e', 'file']],
  [['sztextztouch ranze', 'file']],
  [['s/text/touch ran/;s/^/ /e', 'file']],
  [['/text/e touch ran', 'file']],
  [['1!e x\n1e touch ran', 'file']],
  [['-n', '-e', 'p;1{e touch ran\n}', 'file']],
  [['-ne', '1e touch ran', 'file']],
  [['--expression=1e touch ran', 'file']],
  [['--ex=1e touch ran', 'file']],
  [['-f', 'script', 'file']],
])('sed %j may run a program, as it does', (args) => {
  const directory = createDirectory({
    file: 'text\n',
    script: '1e touch ran\n',
  });
  expect(readSedArguments(args).mayRun).toBe(true);
  execFileSync('sed', [...args], { cwd: directory });
  expect(existsSync(path.join(directory, 'ran'))).toBe(true);
});

test('nobody can tell where a bracket with a delimiter in it ends', () => {
  expect(readSedArguments(['s/[/]/g#/e']).mayRun).toBe(true);
});

test.each([
  [['$r.env'], ['.env']],
  [['R .env'], ['.env']],
  [['s/a/b/w out.txt'], ['out.txt']],
  [['w out.txt\np'], ['out.txt']],
])('sed %j names the files %j', (args, files) => {
  expect(readSedArguments(args)).toEqual({ mayRun: false, files });
});
