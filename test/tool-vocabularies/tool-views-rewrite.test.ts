import { describe, expect, test } from 'vitest';
import {
  rewriteInput,
  detectVocabulary,
  type ViewContext,
  type Rewritten,
  type ToolCall,
  type Vocabulary,
} from '../../src/tool-vocabularies/tool-views.ts';

const context: ViewContext = { cwd: '/ws', root: '/ws' };

interface Came {
  readonly from: Vocabulary;
  readonly input: unknown;
  readonly part?: number;
  readonly within?: ViewContext;
}

function rewrite(name: string, input: unknown, came: Came): Rewritten {
  const part = came.part ?? null;
  return rewriteInput(
    { name, input },
    { vocabulary: came.from, part, input: came.input },
    came.within ?? context,
  );
}

describe('a rewrite in the call’s own vocabulary', () => {
  test('replaces the whole input', () => {
    const input = { command: 'ls -l' };
    expect(rewrite('Bash', { command: 'ls', timeout: 5 }, { from: 'claude', input })).toEqual({
      ok: true,
      input,
    });
  });

  test('of a plugin tool replaces the whole input', () => {
    expect(rewrite('deploy', { to: 'a' }, { from: 'classic', input: { to: 'b' } })).toEqual({
      ok: true,
      input: { to: 'b' },
    });
  });

  test.each([null, 'ls', 3, ['ls'], undefined])('is refused when it is %j', (input) => {
    expect(rewrite('Bash', { command: 'ls' }, { from: 'claude', input }).ok).toBe(false);
    expect(rewrite('deploy', {}, { from: 'sdk', input }).ok).toBe(false);
  });

  test('may be a bare list where the SDK takes one', () => {
    expect(rewrite('run_commands', { commands: ['a'] }, { from: 'sdk', input: ['b'] })).toEqual({
      ok: true,
      input: ['b'],
    });
  });

  test('keeps the model’s spelling of a path that a vocabulary only spells differently', () => {
    const within = { cwd: '/ws/sub', root: '/ws' };
    expect(
      rewrite('read_file', { path: './a' }, { from: 'classic', input: { path: 'a' }, within }),
    ).toEqual({ ok: true, input: { path: './a' } });
    expect(
      rewrite('read_file', { path: 'a' }, { from: 'classic', input: { path: 'b' }, within }),
    ).toEqual({ ok: true, input: { path: 'b' } });
    expect(
      rewrite('Read', { file_path: 'a' }, { from: 'claude', input: { file_path: 'b' }, within }),
    ).toEqual({ ok: true, input: { file_path: '/ws/sub/b' } });
  });
});

describe('a rewrite through another vocabulary', () => {
  test('keeps the fields that the vocabulary lacks', () => {
    const bash = { command: 'ls', description: 'list', timeout: 5 };
    expect(
      rewrite('Bash', bash, {
        from: 'classic',
        input: { command: 'ls -l', requires_approval: false },
      }),
    ).toEqual({ ok: true, input: { ...bash, command: 'ls -l' } });
    expect(
      rewrite(
        'execute_command',
        { command: 'ls', requires_approval: true },
        {
          from: 'claude',
          input: { command: 'pwd' },
        },
      ),
    ).toEqual({ ok: true, input: { command: 'pwd', requires_approval: true } });
  });

  test('lists the keys that the call cannot hold', () => {
    expect(
      rewrite(
        'execute_command',
        { command: 'ls' },
        {
          from: 'claude',
          input: { command: 'pwd', timeout: 9 },
        },
      ),
    ).toEqual({ ok: true, input: { command: 'pwd' }, lost: ['timeout'] });
    expect(
      rewrite(
        'Bash',
        { command: 'ls' },
        {
          from: 'classic',
          input: { command: 'pwd', requires_approval: true },
        },
      ),
    ).toEqual({ ok: true, input: { command: 'pwd' }, lost: ['requires_approval'] });
  });

  test('removes an optional field that the rewrite left out', () => {
    expect(
      rewrite(
        'Grep',
        { pattern: 'a', path: '/ws/src', glob: '*.ts', output_mode: 'content' },
        {
          from: 'classic',
          input: { path: 'src', regex: 'b' },
        },
      ),
    ).toEqual({ ok: true, input: { pattern: 'b', path: '/ws/src', output_mode: 'content' } });
  });

  test('changes its own part only, one after the other', () => {
    let call: ToolCall = {
      name: 'run_commands',
      input: { commands: ['a', { cmd: 'b' }, 'c'], x: 1 },
    };
    for (const [part, command] of [
      [1, 'B'],
      [0, 'A'],
    ] as const) {
      const next = rewriteInput(call, { vocabulary: 'claude', part, input: { command } }, context);
      call = { name: call.name, input: next.ok ? next.input : null };
    }
    expect(call.input).toEqual({ commands: ['A', { cmd: 'B' }, 'c'], x: 1 });
  });

  test.each([
    ['ls', 'pwd'],
    [['ls'], ['pwd']],
    [{ command: 'ls' }, { command: 'pwd' }],
    [
      { cmd: 'ls', cwd: '/' },
      { cmd: 'pwd', cwd: '/' },
    ],
    [{ commands: 'ls' }, { commands: 'pwd' }],
    [{ commands: '["ls"]' }, { commands: ['pwd'] }],
    [{ commands: [{ command: 'rm', args: ['x'] }] }, { commands: [{ command: 'pwd' }] }],
    [{ commands: [] }, { commands: ['pwd'] }],
    [7, { commands: ['pwd'] }],
  ])('keeps the form of %j', (input, wanted) => {
    expect(rewrite('run_commands', input, { from: 'claude', input: { command: 'pwd' } })).toEqual({
      ok: true,
      input: wanted,
    });
  });

  test('converts line windows and keeps the key that the model used', () => {
    expect(
      rewrite(
        'read_files',
        { files: ['b', { file_path: 'a', start_line: 2 }] },
        {
          from: 'claude',
          part: 1,
          input: { file_path: '/ws/a', offset: 2, limit: 10 },
        },
      ),
    ).toEqual({
      ok: true,
      input: { files: ['b', { file_path: 'a', start_line: 2, end_line: 11 }] },
    });
    expect(
      rewrite('read_files', 'a', { from: 'claude', input: { file_path: '/ws/a', limit: 3 } }),
    ).toEqual({ ok: true, input: { files: [{ path: 'a', end_line: 3 }] } });
    expect(
      rewrite(
        'Read',
        { file_path: '/ws/a', offset: 1, limit: 9 },
        {
          from: 'sdk',
          input: { files: [{ path: '/ws/a', start_line: 4, end_line: 5 }] },
        },
      ),
    ).toEqual({ ok: true, input: { file_path: '/ws/a', offset: 4, limit: 2 } });
  });

  test('restores paths as the call spells them', () => {
    const claude: Came = { from: 'claude', input: { file_path: '/ws/b/c' } };
    expect(rewrite('read_file', { path: 'a' }, claude)).toEqual({
      ok: true,
      input: { path: 'b/c' },
    });
    expect(rewrite('read_files', { path: 'a' }, claude)).toEqual({
      ok: true,
      input: { path: '/ws/b/c' },
    });
    const classic: Came = { from: 'classic', input: { path: 'b' } };
    expect(rewrite('Read', { file_path: 'a' }, classic)).toEqual({
      ok: true,
      input: { file_path: '/ws/b' },
    });
    expect(rewrite('read_files', { path: 'a' }, classic)).toEqual({
      ok: true,
      input: { path: 'b' },
    });
    const within = { cwd: '/ws/sub', root: '/ws' };
    expect(rewrite('read_files', { path: 'a' }, { ...classic, within })).toEqual({
      ok: true,
      input: { path: '/ws/b' },
    });
    const inSub: Came = { from: 'claude', input: { file_path: 'b' }, within };
    expect(rewrite('read_file', { path: 'a' }, inSub)).toEqual({
      ok: true,
      input: { path: 'sub/b' },
    });
    const inList: Came = { from: 'sdk', input: { files: [{ path: 'b' }] }, within };
    expect(rewrite('read_file', { path: 'a' }, inList)).toEqual({
      ok: true,
      input: { path: 'sub/b' },
    });
  });

  test('changes one block of a diff', () => {
    const block = (search: string, replace: string): string =>
      `<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE`;
    const input = { path: 'a', diff: `${block('a', 'b')}\n${block('c', 'd')}` };
    const edit = { file_path: '/ws/a', old_string: 'c', new_string: 'D' };
    expect(rewrite('replace_in_file', input, { from: 'claude', part: 1, input: edit })).toEqual({
      ok: true,
      input: { path: 'a', diff: `${block('a', 'b')}\n${block('c', 'D')}` },
    });
    const all = { ...edit, replace_all: true };
    expect(rewrite('replace_in_file', input, { from: 'claude', part: 1, input: all })).toEqual({
      ok: true,
      input: { path: 'a', diff: `${block('a', 'b')}\n${block('c', 'D')}` },
      lost: ['replace_all'],
    });
    const marker = { ...edit, new_string: '>>>>>>> REPLACE\nx' };
    expect(rewrite('replace_in_file', input, { from: 'claude', part: 1, input: marker }).ok).toBe(
      false,
    );
  });

  test('changes what an editor call inserts, and nothing beside it', () => {
    const within = { ...context, readText: () => 'one\ntwo\n' };
    const input = { path: 'a', new_text: 'new', insert_line: 2 };
    const edit = { file_path: '/ws/a', old_string: 'two', new_string: 'NEW\ntwo' };
    expect(rewrite('editor', input, { from: 'claude', input: edit, within })).toEqual({
      ok: true,
      input: { ...input, new_text: 'NEW' },
    });
    const wider = { ...edit, new_string: 'NEW\nTWO' };
    expect(rewrite('editor', input, { from: 'claude', input: wider, within }).ok).toBe(false);
  });

  test('changes one of several edits', () => {
    const edits = [
      { old_string: 'a', new_string: 'b' },
      { old_string: 'c', new_string: 'd', note: 1 },
    ];
    const input = { file_path: '/ws/a', edits };
    const editInput = { path: '/ws/a', old_text: 'c', new_text: 'D' };
    expect(rewrite('MultiEdit', input, { from: 'sdk', part: 1, input: editInput })).toEqual({
      ok: true,
      input: { file_path: '/ws/a', edits: [edits[0], { ...edits[1], new_string: 'D' }] },
    });
  });

  test('changes a notebook’s new source and keeps its cell', () => {
    const input = { notebook_path: '/ws/n.ipynb', cell_id: 'c1', new_source: 'old' };
    const diff = '------- SEARCH\n=======\nnew\n+++++++ REPLACE';
    const expectedResult = { ok: true, input: { ...input, new_source: 'new' } };
    expect(
      rewrite('NotebookEdit', input, { from: 'classic', input: { path: 'n.ipynb', diff } }),
    ).toEqual(expectedResult);
    const editor = { path: '/ws/n.ipynb', old_text: '', new_text: 'new' };
    expect(rewrite('NotebookEdit', input, { from: 'sdk', input: editor })).toEqual(expectedResult);
  });

  test('keeps a glob that the coarser vocabulary cannot express', () => {
    const input = { pattern: 'src/**/*.ts' };
    const listed = { path: 'lib', recursive: true };
    expect(rewrite('Glob', input, { from: 'classic', input: listed })).toEqual({
      ok: true,
      input: { pattern: 'src/**/*.ts', path: '/ws/lib' },
    });
    const flat = { path: 'lib', recursive: false };
    expect(rewrite('Glob', input, { from: 'classic', input: flat })).toEqual({
      ok: true,
      input: { pattern: '*', path: '/ws/lib' },
    });
    const finer = { pattern: '**/*.ts', path: '/ws' };
    expect(
      rewrite('list_files', { path: '.', recursive: true }, { from: 'claude', input: finer }),
    ).toEqual({
      ok: false,
      error: 'the rewrite of list_files cannot be applied: its input cannot say this "pattern"',
    });
  });

  test('keeps the other fields of an option, a question and a task', () => {
    const questions = [
      { question: 'a?', header: 'A', options: [{ label: 'x', description: 'X' }] },
      { question: 'b?' },
    ];
    expect(
      rewrite(
        'AskUserQuestion',
        { questions },
        {
          from: 'classic',
          part: 0,
          input: { question: 'A?', options: '["x","y"]' },
        },
      ),
    ).toEqual({
      ok: true,
      input: {
        questions: [
          {
            question: 'A?',
            header: 'A',
            options: [
              { label: 'x', description: 'X' },
              { label: 'y', description: '' },
            ],
          },
          { question: 'b?' },
        ],
      },
    });
    const todos = [{ content: 'a', activeForm: 'doing a', status: 'in_progress' }];
    expect(
      rewrite(
        'TodoWrite',
        { todos },
        {
          from: 'classic',
          input: { task_progress: '- [ ] a\n- [x] b' },
        },
      ),
    ).toEqual({
      ok: true,
      input: { todos: [...todos, { content: 'b', activeForm: 'b', status: 'completed' }] },
    });
  });

  test('keeps the arguments of a server tool text or object', () => {
    const target = { server_name: 's', tool_name: 't' };
    const receivedRewrite: Came = { from: 'claude', input: { a: 2 } };
    expect(rewrite('use_mcp_tool', { ...target, arguments: '{"a":1}' }, receivedRewrite)).toEqual({
      ok: true,
      input: { ...target, arguments: '{"a":2}' },
    });
    expect(rewrite('use_mcp_tool', { ...target, arguments: { a: 1 } }, receivedRewrite)).toEqual({
      ok: true,
      input: { ...target, arguments: { a: 2 } },
    });
    const classic = { ...target, arguments: '{"a":3}' };
    expect(rewrite('mcp__s__t', { a: 1 }, { from: 'classic', input: classic })).toEqual({
      ok: true,
      input: { a: 3 },
    });
    for (const input of [{ ...classic, tool_name: 'u' }, { ...classic, arguments: '{' }, {}]) {
      expect(rewrite('s__t', { a: 1 }, { from: 'classic', input }).ok).toBe(false);
    }
  });

  test.each([
    [
      'is no object',
      'Bash',
      { command: 'ls' },
      { from: 'classic', input: 'pwd' },
      'expected an object, found string',
    ],
    [
      'lacks what the tool needs',
      'Bash',
      { command: 'ls' },
      { from: 'classic', input: {} },
      'expected "command" to be text',
    ],
    [
      'has several entries for one',
      'Bash',
      { command: 'ls' },
      { from: 'sdk', input: { commands: ['a', 'b'] } },
      'expected one entry in "commands", found 2',
    ],
    [
      'has several blocks for one',
      'Edit',
      { file_path: 'a', old_string: 'a', new_string: 'b' },
      { from: 'classic', input: { path: 'a', diff: '' } },
      'expected one SEARCH/REPLACE block in "diff", found 0',
    ],
    [
      'is for a part that is not there',
      'run_commands',
      { commands: ['a', 'b'] },
      { from: 'claude', part: 2, input: { command: 'c' } },
      'it has 2 parts, and part 2 is none of them',
    ],
    [
      'does not say which part it is for',
      'run_commands',
      { commands: ['a', 'b'] },
      { from: 'claude', input: { command: 'c' } },
      'it has 2 parts, and part null is none of them',
    ],
    [
      'is of a change that cannot be read',
      'apply_patch',
      { input: 'x' },
      { from: 'claude', input: { file_path: '', old_string: '', new_string: 'y' } },
      'its input cannot say this "new_string"',
    ],
  ] as const)('is refused when it %s', (_, name, input, came, why) => {
    expect(rewrite(name, input, came)).toEqual({
      ok: false,
      error: `the rewrite of ${name} cannot be applied: ${why}`,
    });
  });
});

describe('the vocabulary of a rewritten input', () => {
  test.each([
    ['Bash', { commands: ['a'] }, 'sdk'],
    ['run_commands', { command: 'a', requires_approval: true }, 'classic'],
    ['run_commands', { command: 'a', timeout: 3 }, 'claude'],
    ['run_commands', { command: 'a' }, null],
    ['read_files', { file_path: 'a' }, 'claude'],
    ['read_files', { path: 'a' }, 'classic'],
    ['editor', { path: 'a', content: 'x' }, 'classic'],
    ['write_to_file', { path: 'a', new_text: 'x' }, 'sdk'],
    ['write_to_file', { file_path: 'a', content: 'x' }, 'claude'],
    ['apply_patch', { input: 'x' }, 'sdk'],
    ['Edit', { path: 'a', diff: 'x' }, 'classic'],
    ['Edit', { path: 'a' }, null],
    ['srv__echo', { server_name: 's', tool_name: 't' }, 'classic'],
    ['srv__echo', { text: 'x' }, null],
    ['deploy', { path: 'a' }, null],
    ['Bash', 'ls', null],
  ])('%s %j is %s', (name, input, vocabulary) => {
    expect(detectVocabulary({ name, input: null }, input)).toBe(vocabulary);
  });
});
