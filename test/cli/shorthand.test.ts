import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/base/version.ts';
import { jsonOf, resultOf, runHookline, startHookline } from './hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, write } from './temp-workspace.ts';
import { hasTerminal, runInTerminal } from './terminal.ts';

const SCRIPT = '[{"text": "Fine."}, {"text": "Fine again."}]';

function createWorkspace(): TempWorkspace {
  const workspace = createTempWorkspace();
  write(workspace.directory, 'turns.json', SCRIPT);
  return workspace;
}

interface StoredLine {
  readonly isMeta: boolean;
  readonly message: { readonly role: string; readonly content: readonly { text: string }[] };
}

/** The prompts of the last session. */
async function readPrompts(workspace: TempWorkspace): Promise<string[]> {
  const { lines } = jsonOf(await runHookline(['sessions', 'show', '--json'], at(workspace)));
  return lines
    .filter(({ message, isMeta }: StoredLine) => message.role === 'user' && !isMeta)
    .flatMap(({ message }: StoredLine) => message.content.map(({ text }) => text));
}

describe('a prompt without the word run', () => {
  it.each([
    ['two words', ['review this'], ''],
    ['-p', ['-p', 'review'], ''],
    ['-p with piped text only', ['-p'], 'review'],
    ['flags before the words', ['--max-turns', '3', 'review this'], ''],
  ])('is a run without a terminal: %s', async (_name, args, stdin) => {
    const workspace = createWorkspace();
    const result = await runHookline(['--script', '../turns.json', ...args], {
      ...at(workspace),
      stdin,
    });
    expect(result).toEqual({ code: 0, stdout: 'Fine.\n', stderr: '' });
    expect(await readPrompts(workspace)).toEqual([expect.stringContaining('review')]);
  });

  it.skipIf(!hasTerminal)('is a chat on a terminal', async () => {
    const workspace = createWorkspace();
    const { code, stdout } = await runInTerminal(
      ['--script', '../turns.json', 'review this'],
      at(workspace),
      { dialogue: [['Fine\\.', '/exit\r']] },
    );
    expect({ code, hasAnswer: stdout.includes('Fine.') }).toEqual({ code: 0, hasAnswer: true });
  });

  it('is not guessed from one word, which may be a mistyped command', async () => {
    const workspace = createWorkspace();
    expect(await runHookline(['sesions'], at(workspace))).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'hookline: unknown command "sesions"\n  Did you mean sessions? See `hookline --help`.\n',
    });
  });
});

describe('text on stdin', () => {
  it('is joined to the prompt', async () => {
    const workspace = createWorkspace();
    await runHookline(['run', '--script', '../turns.json', 'review this'], {
      ...at(workspace),
      stdin: 'the diff\n',
    });
    expect(await readPrompts(workspace)).toEqual(['review this\n\nthe diff']);
  });

  it('is not waited for when there is a prompt and nothing is written', async () => {
    const workspace = createWorkspace();
    const child = startHookline(['run', '--script', '../turns.json', 'go on'], at(workspace));
    expect(await resultOf(child)).toEqual({
      code: 0,
      stdout: 'Fine.\n',
      stderr: 'note: nothing came on stdin within 3 s, so only the prompt is used\n',
    });
  });
});

it.each([[['-c']], [['-r']], [['--resume']], [['run', '-c']], [['run', '-r']]])(
  '%j goes on with the last session',
  async (flags) => {
    const workspace = createWorkspace();
    await runHookline(['run', '--script', '../turns.json', 'first'], at(workspace));
    const result = await runHookline(
      [...flags, 'second prompt', '--script', '../turns.json'],
      at(workspace),
    );
    expect(result).toMatchObject({ code: 0 });
    expect(await readPrompts(workspace)).toEqual(['first', 'second prompt']);
  },
);

it('-r ID resumes that session', async () => {
  const workspace = createWorkspace();
  const { sessionId } = jsonOf(
    await runHookline(['run', '--json', '--script', '../turns.json', 'first'], at(workspace)),
  );
  await runHookline(['run', '--script', '../turns.json', 'another one'], at(workspace));
  await runHookline(['-p', '-r', sessionId, 'second', '--script', '../turns.json'], at(workspace));
  expect(await readPrompts(workspace)).toEqual(['first', 'second']);
});

it('other spellings of commands work', async () => {
  const workspace = createWorkspace();
  const run = (...args: string[]) => runHookline(args, at(workspace));
  expect(await run('version')).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
  expect(await run('help', 'hooks', 'fire')).toEqual(await run('hooks', 'fire', '--help'));
  expect((await run('help', 'hooks', 'fire')).code).toBe(0);
  expect(await run('mcp', 'add', 'files', '--', 'cat')).toMatchObject({ code: 0 });
  expect(await run('mcp', 'remove', 'files')).toMatchObject({ code: 0 });
  const asked = ['run', '--script', '../turns.json', '--output-format', 'json', 'hello'];
  expect(jsonOf(await run(...asked))).toMatchObject({ text: 'Fine.' });
});
