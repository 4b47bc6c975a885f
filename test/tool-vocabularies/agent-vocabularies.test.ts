import { describe, expect, it } from 'vitest';
import {
  AGENT_VOCABULARIES,
  type AgentVocabulary,
  listToolNames,
  listToolViews,
  rewriteInput,
  type ToolCall,
  VOCABULARIES,
} from '../../src/tool-vocabularies/tool-views.ts';

const CONTEXT = { cwd: '/w', root: '/w' };

/** One call of each kind, in Claude's words. */
const CALLS: readonly ToolCall[] = [
  { name: 'Read', input: { file_path: '/w/a.ts', offset: 3, limit: 4 } },
  { name: 'Write', input: { file_path: '/w/a.ts', content: 'one\ntwo\n' } },
  {
    name: 'Edit',
    input: { file_path: '/w/a.ts', old_string: 'one', new_string: 'two', replace_all: false },
  },
  { name: 'Bash', input: { command: 'ls -l' } },
  { name: 'Grep', input: { pattern: 'x', path: '/w/src' } },
  { name: 'Glob', input: { pattern: '*.ts' } },
  { name: 'WebSearch', input: { query: 'q' } },
  { name: 'Agent', input: { prompt: 'do it', subagent_type: 'explore' } },
  { name: 'TodoWrite', input: { todos: [] } },
  { name: 'mcp__github__create', input: { title: 'x' } },
];

const PAIRS = AGENT_VOCABULARIES.flatMap((vocabulary) =>
  CALLS.map((call) => ({ vocabulary, call, title: `${vocabulary} ${call.name}` })),
);

/** The call as an agent would make it. */
function toAgentCall(call: ToolCall, vocabulary: AgentVocabulary): ToolCall {
  const [view] = listToolViews(call, vocabulary, CONTEXT);
  return { name: view?.name ?? '', input: view?.input, vocabulary };
}

it('every agent names its tools as in the table', async () => {
  const rows = AGENT_VOCABULARIES.map((vocabulary) => {
    const names = CALLS.map((call) => toAgentCall(call, vocabulary)).map(
      ({ name, input }) => `  ${name} ${JSON.stringify(input)}`,
    );
    return `${vocabulary}\n${names.join('\n')}\n`;
  });
  await expect(rows.join('\n')).toMatchFileSnapshot('./agent-vocabularies/calls.txt');
});

describe.each(PAIRS)('a call of $title', ({ vocabulary, call }) => {
  const own = toAgentCall(call, vocabulary);

  it('is read back as what it was', () => {
    // opencode does not mark the tools of MCP servers; Cursor does not name the server.
    const isLost = call.name.startsWith('mcp__') && ['opencode', 'cursor'].includes(vocabulary);
    const views = listToolViews(own, 'claude', CONTEXT);
    const expected = isLost ? {} : { name: call.name, input: expect.objectContaining({}) };
    expect(views).toEqual([expect.objectContaining(expected)]);
    if (!isLost) expect(call.input).toMatchObject(pickKnown(views[0]?.input, call.input));
  });

  it('has its name in each of our vocabularies, and the one that was called', () => {
    const [view] = listToolViews(own, 'claude', CONTEXT);
    if (view === undefined) expect.unreachable();
    const names = listToolNames(own, view);
    expect(names).toContain(own.name);
    for (const each of VOCABULARIES) {
      const [ours] = listToolViews(call, each, CONTEXT);
      const isLost = call.name.startsWith('mcp__') && ['opencode', 'cursor'].includes(vocabulary);
      if (!isLost) expect(names).toContain(ours?.name);
    }
  });
});

/** The fields of the first that the second has, too. */
function pickKnown(input: unknown, wanted: unknown): object {
  if (typeof input !== 'object' || input === null) return {};
  const known = Object.keys(Object(wanted));
  return Object.fromEntries(Object.entries(input).filter(([name]) => known.includes(name)));
}

describe('a rewrite by a guard of ours', () => {
  const rewriteCommand = (vocabulary: AgentVocabulary, own: ToolCall, into: 'claude' | 'classic') =>
    rewriteInput(own, { vocabulary: into, part: null, input: { command: 'echo no' } }, CONTEXT);

  it.each(AGENT_VOCABULARIES)('comes back in the words of %s', (vocabulary) => {
    const own = toAgentCall({ name: 'Bash', input: { command: 'rm x' } }, vocabulary);
    const expected = { ok: true, input: { command: 'echo no' } };
    expect(rewriteCommand(vocabulary, own, 'claude')).toEqual(expected);
    expect(rewriteCommand(vocabulary, own, 'classic')).toEqual(expected);
  });

  it('keeps keys of the agent that we do not know', () => {
    const own: ToolCall = {
      name: 'run_shell_command',
      input: { command: 'rm x', description: 'd', dir_path: 'sub' },
      vocabulary: 'gemini',
    };
    expect(rewriteCommand('gemini', own, 'classic')).toEqual({
      ok: true,
      input: { command: 'echo no', description: 'd', dir_path: 'sub' },
    });
  });

  it('uses the key that the call has', () => {
    const own: ToolCall = {
      name: 'read_file',
      input: { absolute_path: '/w/a' },
      vocabulary: 'gemini',
    };
    const rewrite = { vocabulary: 'claude', part: null, input: { file_path: '/w/b' } } as const;
    expect(rewriteInput(own, rewrite, CONTEXT)).toEqual({
      ok: true,
      input: { absolute_path: '/w/b' },
    });
  });

  it('changes one section of a patch of Codex', () => {
    const patch = (added: string): string =>
      [
        '*** Begin Patch',
        '*** Add File: a',
        `+${added}`,
        '*** Delete File: b',
        '*** End Patch',
      ].join('\n');
    const own: ToolCall = {
      name: 'apply_patch',
      input: { command: patch('x') },
      vocabulary: 'codex',
    };
    const rewrite = {
      vocabulary: 'claude',
      part: 0,
      input: { file_path: 'a', content: 'y' },
    } as const;
    expect(rewriteInput(own, rewrite, { cwd: '/', root: null })).toEqual({
      ok: true,
      input: { command: patch('y').replace('File: a', 'File: /a') },
    });
  });
});

describe('calls that are several', () => {
  const list = (call: ToolCall) =>
    listToolViews(call, 'claude', CONTEXT).map(({ name, input, part }) => ({ name, input, part }));

  it('of Codex are the files of a patch', () => {
    const command = [
      '*** Begin Patch',
      '*** Add File: new.txt',
      '+hi',
      '*** Update File: old.txt',
      '*** Move to: moved.txt',
      '@@',
      '-a',
      '+b',
      '*** Delete File: gone.txt',
      '*** End Patch',
    ].join('\n');
    expect(
      list({ name: 'apply_patch', input: { command }, vocabulary: 'codex' }).map(
        ({ name, input }) => [
          name,
          typeof input === 'object' && input !== null && 'file_path' in input
            ? input.file_path
            : null,
        ],
      ),
    ).toEqual([
      ['Write', '/w/new.txt'],
      ['Edit', '/w/old.txt'],
      ['Write', '/w/moved.txt'],
      ['Edit', '/w/gone.txt'],
    ]);
  });

  it('of Gemini are the addresses in a prompt', () => {
    const prompt = 'Compare https://a.example/x and (http://b.example/y).';
    const urls = list({ name: 'web_fetch', input: { prompt }, vocabulary: 'gemini' });
    expect(urls).toEqual([
      { name: 'WebFetch', input: { url: 'https://a.example/x', prompt }, part: 0 },
      { name: 'WebFetch', input: { url: 'http://b.example/y', prompt }, part: 1 },
    ]);
  });

  it.each([
    ['droid', 'MultiEdit', { file_path: 'a', changes: [{ old_str: '1', new_str: '2' }] }],
    ['opencode', 'multiedit', { filePath: 'a', edits: [{ oldString: '1', newString: '2' }] }],
  ] as const)('of %s are the edits of %s', (vocabulary, name, input) => {
    expect(list({ name, input, vocabulary })).toEqual([
      {
        name: 'Edit',
        input: { file_path: '/w/a', old_string: '1', new_string: '2', replace_all: false },
        part: null,
      },
    ]);
  });
});

describe('names that mean different tools', () => {
  it.each([
    ['copilot', 'str_replace_editor', { command: 'view', path: 'a' }, 'Read'],
    ['copilot', 'str_replace_editor', { command: 'create', path: 'a', file_text: '' }, 'Write'],
    [
      'copilot',
      'str_replace_editor',
      { command: 'insert', path: 'a', new_str: 'x', insert_line: 1 },
      'Edit',
    ],
    ['cursor', 'Write', { file_path: 'a', contents: 'x' }, 'Write'],
    ['cursor', 'Write', { path: 'a', old_string: 'x', new_string: 'y' }, 'Edit'],
    ['cursor', 'Write', { target_file: 'a', something: 'x' }, 'Edit'],
    ['gemini', 'read_file', { file_path: 'a' }, 'Read'],
    ['droid', 'LS', { directory_path: 'a' }, 'Glob'],
    ['opencode', 'edit', { unknown: 1 }, 'Edit'],
    ['qwen', 'save_memory', { fact: 'x' }, 'save_memory'],
  ] as const)('%s %s %j is %s', (vocabulary, name, input, expected) => {
    const views = listToolViews({ name, input, vocabulary }, 'claude', CONTEXT);
    expect(views.map((view) => view.name)).toEqual([expected]);
  });

  it('are not taken for ours without a vocabulary', () => {
    expect(listToolViews({ name: 'edit', input: {} }, 'claude', CONTEXT)).toEqual([
      { name: 'edit', input: {}, part: null },
    ]);
  });
});
