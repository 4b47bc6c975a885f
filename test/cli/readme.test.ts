import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { environmentOf, hooklineProgram } from './hookline.ts';
import { createTempWorkspace, type TempWorkspace, write } from './temp-workspace.ts';

interface Block {
  readonly language: string;
  readonly text: string;
}

const sections = readFileSync('README.md', 'utf8')
  .split(/^## /m)
  .map((text) => ({ title: text.split('\n')[0] ?? '', blocks: listBlocks(text) }))
  .filter(({ blocks }) => blocks.some(isTranscript));

test('the README shows what its reader gets in three sections', () => {
  expect(sections.map(({ title }) => title)).toEqual([
    'Sixty seconds',
    'An agent in which they fire',
    'Your Claude hooks, unmodified',
  ]);
});

test.each(sections)('in an empty home, $title prints what the README shows', ({ blocks }) => {
  const workspace = createTempWorkspace();
  write(workspace.directory, 'bin/hookline', `#!/bin/sh\nexec node ${hooklineProgram()} "$@"\n`);
  for (const { language, text } of blocks) {
    if (language === 'json') write(workspace.repo, '.claude/settings.json', text);
    if (language === 'bash') write(workspace.repo, '.claude/hooks/protect.sh', text);
  }
  for (const { command, output } of blocks.filter(isTranscript).flatMap(listSteps)) {
    expect({ command, output: run(command, workspace) }).toEqual({
      command,
      output: toComparable(output),
    });
  }
});

test('the guard of the README refuses what it cannot read', () => {
  const workspace = createTempWorkspace();
  const blocks = sections.flatMap((section) => section.blocks);
  const guard = blocks.find(({ language }) => language === 'bash')?.text ?? '';
  const file = write(workspace.directory, 'protect.sh', guard);
  const exits = ['{"tool_input":{"file_path":"a.ts"}}', '{"tool_input":{}}', 'no JSON', ''].map(
    (input) => spawnSync(file, { input }).status,
  );
  expect(exits).toEqual([0, 2, 2, 2]);
});

function listBlocks(text: string): Block[] {
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gmsu)].map(([, language = '', block = '']) => ({
    language,
    text: block,
  }));
}

function isTranscript({ text }: Block): boolean {
  return text.startsWith('$ ');
}

/** The commands of a block, each with what is printed after it. */
function listSteps({ text }: Block): { command: string; output: string }[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const [command = '', ...output] = step.split('\n');
      return { command, output: output.join('\n') };
    });
}

function run(command: string, { directory, home, repo }: TempWorkspace): string {
  const { PATH = '' } = environmentOf({ home });
  const { stdout } = spawnSync('bash', ['-c', `{ ${command.replace(/ #.*$/, '')}; } 2>&1`], {
    cwd: repo,
    encoding: 'utf8',
    env: { HOME: home, PATH: `${path.join(directory, 'bin')}:${PATH}` },
  });
  return toComparable(stdout.replaceAll(repo, '/home/you/project'));
}

/** Without times and ids, which differ each time. */
function toComparable(text: string): string {
  return text
    .replaceAll(/\d+(?:\.\d+)? m?s$/gm, 'TIME')
    .replaceAll(/^[0-9a-f]{8}(?=  )/gm, 'SESSION')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'WHEN')
    .trimEnd();
}
