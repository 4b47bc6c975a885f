import { describe, expect, test } from 'vitest';
import {
  listToolNames,
  formatResult,
  TOOL_NAMES,
  listToolViews,
  findVocabulary,
  type ViewContext,
  type ToolResult,
  type Vocabulary,
} from '../../src/tool-vocabularies/tool-views.ts';

const context: ViewContext = { cwd: '/ws', root: '/ws' };

interface Row {
  readonly says: string;
  readonly claude: readonly [string, object];
  readonly classic: readonly [string, object];
  readonly sdk: readonly [string, object];
  /** Vocabularies with fewer fields than the others, so that the row cannot start there. */
  readonly poorer?: readonly Vocabulary[];
}

const diff = (search: string, replace: string): string =>
  `------- SEARCH\n${search}\n=======\n${replace}\n+++++++ REPLACE`;

const ROWS: readonly Row[] = [
  {
    says: 'reading a file',
    claude: ['Read', { file_path: '/ws/src/a.ts' }],
    classic: ['read_file', { path: 'src/a.ts' }],
    sdk: ['read_files', { files: [{ path: 'src/a.ts' }] }],
  },
  {
    says: 'reading some lines',
    claude: ['Read', { file_path: '/ws/a.ts', offset: 5, limit: 6 }],
    classic: ['read_file', { path: 'a.ts' }],
    sdk: ['read_files', { files: [{ path: 'a.ts', start_line: 5, end_line: 10 }] }],
    poorer: ['classic'],
  },
  {
    says: 'writing a file',
    claude: ['Write', { file_path: '/ws/a.ts', content: 'one\n' }],
    classic: ['write_to_file', { path: 'a.ts', content: 'one\n' }],
    sdk: ['editor', { path: 'a.ts', new_text: 'one\n' }],
  },
  {
    says: 'editing a file',
    claude: [
      'Edit',
      { file_path: '/ws/a.ts', old_string: 'a\nb', new_string: 'c', replace_all: false },
    ],
    classic: ['replace_in_file', { path: 'a.ts', diff: diff('a\nb', 'c') }],
    sdk: ['editor', { path: 'a.ts', old_text: 'a\nb', new_text: 'c' }],
  },
  {
    says: 'running a command',
    claude: ['Bash', { command: 'npm test' }],
    classic: ['execute_command', { command: 'npm test', requires_approval: false }],
    sdk: ['run_commands', { commands: ['npm test'] }],
  },
  {
    says: 'searching',
    claude: ['Grep', { pattern: 'a.*b', path: '/ws/src', glob: '*.ts' }],
    classic: ['search_files', { path: 'src', regex: 'a.*b', file_pattern: '*.ts' }],
    sdk: ['search_codebase', { queries: ['a.*b'] }],
    poorer: ['sdk'],
  },
  {
    says: 'listing files below a directory',
    claude: ['Glob', { pattern: '**/*', path: '/ws/src' }],
    classic: ['list_files', { path: 'src', recursive: true }],
    sdk: ['Glob', { pattern: '**/*', path: 'src' }],
  },
  {
    says: 'listing the files in a directory',
    claude: ['Glob', { pattern: '*', path: '/ws/src' }],
    classic: ['list_files', { path: 'src', recursive: false }],
    sdk: ['Glob', { pattern: '*', path: 'src' }],
  },
  {
    says: 'fetching a page',
    claude: ['WebFetch', { url: 'https://example.org/', prompt: 'sum up' }],
    classic: ['web_fetch', { url: 'https://example.org/', prompt: 'sum up' }],
    sdk: ['fetch_web_content', { requests: [{ url: 'https://example.org/', prompt: 'sum up' }] }],
  },
  {
    says: 'searching the web',
    claude: ['WebSearch', { query: 'hooks' }],
    classic: ['web_search', { query: 'hooks' }],
    sdk: ['web_search', { query: 'hooks' }],
  },
  {
    says: 'starting a sub-agent',
    claude: ['Agent', { prompt: 'look around' }],
    classic: ['new_task', { context: 'look around' }],
    sdk: ['spawn_agent', { task: 'look around' }],
  },
  {
    says: 'writing the list of things to do',
    claude: [
      'TodoWrite',
      {
        todos: [
          { content: 'a', activeForm: 'a', status: 'completed' },
          { content: 'b', activeForm: 'b', status: 'pending' },
        ],
      },
    ],
    classic: ['focus_chain', { task_progress: '- [x] a\n- [ ] b' }],
    sdk: [
      'TodoWrite',
      {
        todos: [
          { content: 'a', activeForm: 'a', status: 'completed' },
          { content: 'b', activeForm: 'b', status: 'pending' },
        ],
      },
    ],
  },
  {
    says: 'asking the user',
    claude: [
      'AskUserQuestion',
      {
        questions: [
          {
            question: 'Which?',
            header: '',
            multiSelect: false,
            options: [
              { label: 'one', description: '' },
              { label: 'two', description: '' },
            ],
          },
        ],
      },
    ],
    classic: ['ask_followup_question', { question: 'Which?', options: '["one","two"]' }],
    sdk: ['ask_question', { question: 'Which?', options: ['one', 'two'] }],
  },
  {
    says: 'using a skill',
    claude: ['Skill', { skill: 'pdf', args: 'x' }],
    classic: ['use_skill', { skill_name: 'pdf' }],
    sdk: ['skills', { skill: 'pdf', args: 'x' }],
    poorer: ['classic'],
  },
  {
    says: 'editing a notebook',
    claude: ['NotebookEdit', { notebook_path: '/ws/n.ipynb', new_source: 'print(2)' }],
    classic: [
      'replace_in_file',
      {
        path: 'n.ipynb',
        diff: '------- SEARCH\n=======\nprint(2)\n+++++++ REPLACE',
      },
    ],
    sdk: ['editor', { path: '/ws/n.ipynb', new_text: 'print(2)', old_text: '' }],
    poorer: ['classic', 'sdk'],
  },
  {
    says: 'calling a tool of a server',
    claude: ['mcp__srv__echo', { text: 'yo' }],
    classic: [
      'use_mcp_tool',
      { server_name: 'srv', tool_name: 'echo', arguments: '{"text":"yo"}' },
    ],
    sdk: ['srv__echo', { text: 'yo' }],
  },
];

const VOCABULARIES = ['claude', 'classic', 'sdk'] as const;

const PAIRS = ROWS.flatMap((row) =>
  VOCABULARIES.filter((from) => row.poorer?.includes(from) !== true).flatMap((from) =>
    VOCABULARIES.map((to) => ({ row, from, to, title: `${row.says}, from ${from} to ${to}` })),
  ),
);

describe('every tool has a view in every vocabulary', () => {
  test.each(PAIRS)('$title', ({ row, from, to }) => {
    const [name, input] = row[from];
    const [wantedName, wanted] = row[to];
    // An SDK path is as the model wrote it, so a call with absolute paths keeps them there.
    const isAsWritten = to === 'sdk' && from === 'claude';
    const asWritten = JSON.parse(
      JSON.stringify(wanted).replaceAll(/"(src|a\.ts|src\/a\.ts)"/g, '"/ws/$1"'),
    );
    expect(listToolViews({ name, input }, to, context)).toEqual([
      { name: wantedName, input: isAsWritten ? asWritten : wanted, part: null },
    ]);
  });
});

describe('a plural call', () => {
  const listViews = (name: string, input: unknown, to: Vocabulary): unknown[] =>
    listToolViews({ name, input }, to, context).map((view) => [view.name, view.input, view.part]);

  test('of several commands is one Bash each', () => {
    expect(listViews('run_commands', { commands: ['ls', 'pwd'] }, 'claude')).toEqual([
      ['Bash', { command: 'ls' }, 0],
      ['Bash', { command: 'pwd' }, 1],
    ]);
  });

  test('is one view in its own vocabulary, and the very same input', () => {
    const input = { commands: ['ls', 'pwd'] };
    const [view, ...more] = listToolViews({ name: 'run_commands', input }, 'sdk', context);
    expect(more).toEqual([]);
    expect(view?.input).toBe(input);
  });

  test('of several files is one read_file each', () => {
    const files = [
      { path: 'a' },
      { path: '/ws/b', start_line: 3 },
      { path: '/etc/c', end_line: 4 },
    ];
    expect(listViews('read_files', { files }, 'classic')).toEqual([
      ['read_file', { path: 'a' }, 0],
      ['read_file', { path: 'b' }, 1],
      ['read_file', { path: '/etc/c' }, 2],
    ]);
    expect(listViews('read_files', { files }, 'claude')).toEqual([
      ['Read', { file_path: '/ws/a' }, 0],
      ['Read', { file_path: '/ws/b', offset: 3 }, 1],
      ['Read', { file_path: '/etc/c', limit: 4 }, 2],
    ]);
  });

  test('of several queries and requests is one Grep and one WebFetch each', () => {
    expect(listViews('search_codebase', { queries: ['a', 'b'] }, 'claude')).toEqual([
      ['Grep', { pattern: 'a' }, 0],
      ['Grep', { pattern: 'b' }, 1],
    ]);
    const requests = [{ url: 'x:1', prompt: 'p' }, { url: 'x:2' }];
    expect(listViews('fetch_web_content', { requests }, 'claude')).toEqual([
      ['WebFetch', { url: 'x:1', prompt: 'p' }, 0],
      ['WebFetch', { url: 'x:2' }, 1],
    ]);
  });

  test('of several edits is one Edit each, for Claude too', () => {
    const edits = [
      { old_string: 'a', new_string: 'b' },
      { old_string: 'c', new_string: 'd', replace_all: true },
    ];
    expect(listViews('MultiEdit', { file_path: 'a.ts', edits }, 'claude')).toEqual([
      ['Edit', { file_path: '/ws/a.ts', old_string: 'a', new_string: 'b', replace_all: false }, 0],
      ['Edit', { file_path: '/ws/a.ts', old_string: 'c', new_string: 'd', replace_all: true }, 1],
    ]);
  });

  test('of several questions is one question each', () => {
    const questions = [{ question: 'a?', options: [{ label: 'x' }] }, { question: 'b?' }];
    expect(listViews('AskUserQuestion', { questions }, 'sdk')).toEqual([
      ['ask_question', { question: 'a?', options: ['x'] }, 0],
      ['ask_question', { question: 'b?' }, 1],
    ]);
  });

  test.each([
    ['a text', 'ls', ['ls']],
    ['a list', ['ls', 'pwd'], ['ls', 'pwd']],
    ['one command', { command: 'ls' }, ['ls']],
    ['one cmd', { cmd: 'ls' }, ['ls']],
    ['commands as a text', { commands: 'ls' }, ['ls']],
    ['commands as JSON text', { commands: '["ls","pwd"]' }, ['ls', 'pwd']],
    ['a text that only looks like JSON', { commands: '[ -f x ]' }, ['[ -f x ]']],
    ['command as a list', { command: ['ls', 'pwd'] }, ['ls', 'pwd']],
    [
      'a program with arguments',
      { commands: [{ command: 'rm', args: ['-r', 'a b', "it's"] }] },
      [`rm -r 'a b' 'it'\\''s'`],
    ],
    ['no command', { commands: [] }, ['']],
    ['something else', { run: 'ls' }, ['{"run":"ls"}']],
    ['nothing', null, ['']],
    ['a number', 7, ['7']],
  ])('run_commands accepts %s', (_, input, commands) => {
    const views = listToolViews({ name: 'run_commands', input }, 'claude', context);
    expect(views.map((view) => view.input)).toEqual(commands.map((command) => ({ command })));
  });

  test.each([
    ['a text', 'a', ['a']],
    ['a list of texts', ['a', 'b'], ['a', 'b']],
    ['a path', { path: 'a' }, ['a']],
    ['a file_path', { file_path: 'a' }, ['a']],
    ['a filePath', { filePath: 'a' }, ['a']],
    ['paths', { paths: ['a', 'b'] }, ['a', 'b']],
    ['file_paths', { file_paths: ['a', 'b'] }, ['a', 'b']],
    ['files with other keys', { files: [{ file_path: 'a' }, 'b'] }, ['a', 'b']],
  ])('read_files accepts %s', (_, input, paths) => {
    const views = listToolViews({ name: 'read_files', input }, 'classic', context);
    expect(views.map((view) => view.input)).toEqual(paths.map((path) => ({ path })));
  });
});

describe('an editor call', () => {
  const listViews = (input: object, text: string | null): unknown[] =>
    listToolViews({ name: 'editor', input }, 'claude', { ...context, readText: () => text }).map(
      (view) => [view.name, view.input],
    );
  const edit = (before: string, after: string): unknown[] => [
    ['Edit', { file_path: '/ws/a', old_string: before, new_string: after, replace_all: false }],
  ];

  test('that inserts is an Edit of the line it inserts before', () => {
    const input = { path: 'a', new_text: 'new', insert_line: 2 };
    expect(listViews(input, 'one\ntwo\n')).toEqual(edit('two', 'new\ntwo'));
  });

  test('that inserts at the end is an Edit of the last line', () => {
    const input = { path: 'a', new_text: 'new', insert_line: 3 };
    expect(listViews(input, 'one\ntwo\n')).toEqual(edit('two', 'two\nnew'));
  });

  test('that inserts into a file that cannot be read has the text', () => {
    const input = { path: 'a', new_text: 'new', insert_line: 3 };
    expect(listViews(input, null)).toEqual(edit('', 'new'));
  });

  test('whose file reader throws has the text', () => {
    const readText = (): string => {
      throw new TypeError('no');
    };
    const call = { name: 'editor', input: { path: 'a', new_text: 'new', insert_line: 3 } };
    expect(listToolViews(call, 'claude', { ...context, readText })[0]?.input).toEqual({
      file_path: '/ws/a',
      old_string: '',
      new_string: 'new',
      replace_all: false,
    });
  });

  test('with nulls for missing fields is a Write', () => {
    const input = { path: 'a', new_text: 'x', old_text: null, insert_line: null };
    expect(listViews(input, null)).toEqual([['Write', { file_path: '/ws/a', content: 'x' }]]);
  });
});

describe('a change that cannot be read', () => {
  test.each([
    ['editor', { path: 'a', old_text: 'x' }, '/ws/a', '{"path":"a","old_text":"x"}'],
    [
      'editor',
      { path: 'a', new_text: 'x', insert_line: 'top' },
      '/ws/a',
      '{"path":"a","new_text":"x","insert_line":"top"}',
    ],
    ['editor', null, '', ''],
    ['apply_patch', { input: 'no patch' }, '', 'no patch'],
    ['apply_patch', 'no patch', '', 'no patch'],
    ['apply_patch', { input: 3 }, '', '{"input":3}'],
    ['replace_in_file', { path: 'a', diff: 'no blocks' }, '/ws/a', 'no blocks'],
    ['replace_in_file', { path: 'a' }, '/ws/a', '{"path":"a"}'],
    ['write_to_file', { path: 'a' }, '/ws/a', '{"path":"a"}'],
    ['MultiEdit', { file_path: 'a', edits: [1] }, '/ws/a', '{"file_path":"a","edits":[1]}'],
  ])('%s %j is still an Edit with what is known', (name, input, path, text) => {
    expect(listToolViews({ name, input }, 'claude', context)).toEqual([
      {
        name: 'Edit',
        input: { file_path: path, old_string: '', new_string: text, replace_all: false },
        part: null,
      },
    ]);
  });
});

describe('paths', () => {
  const inSub: ViewContext = { cwd: '/ws/sub', root: '/ws' };
  const listViews = (name: string, input: object, to: Vocabulary): unknown =>
    listToolViews({ name, input }, to, inSub)[0]?.input;

  test('are absolute for Claude, from the working directory', () => {
    expect(listViews('read_files', { path: 'a' }, 'claude')).toEqual({ file_path: '/ws/sub/a' });
    expect(listViews('Read', { file_path: '../b' }, 'claude')).toEqual({ file_path: '/ws/b' });
  });

  test('of a classic call start at the root, whatever the working directory', () => {
    expect(listViews('read_file', { path: 'a' }, 'claude')).toEqual({ file_path: '/ws/a' });
    expect(listViews('write_to_file', { path: './a', content: '' }, 'claude')).toEqual({
      file_path: '/ws/a',
      content: '',
    });
    expect(listViews('list_files', { path: '.', recursive: true }, 'claude')).toMatchObject({
      path: '/ws',
    });
    expect(listViews('search_files', { regex: 'x' }, 'claude')).toEqual({
      path: '/ws',
      pattern: 'x',
    });
    expect(listViews('read_file', { path: 'sub/a' }, 'sdk')).toEqual({ files: [{ path: 'a' }] });
    expect(listViews('read_file', { path: 'a' }, 'sdk')).toEqual({ files: [{ path: '/ws/a' }] });
  });

  test('are relative to the root for classic hooks when inside it', () => {
    expect(listViews('Read', { file_path: '/ws/b' }, 'classic')).toEqual({ path: 'b' });
    expect(listViews('Read', { file_path: '/wsx/b' }, 'classic')).toEqual({ path: '/wsx/b' });
    expect(listViews('read_file', { path: './a' }, 'classic')).toEqual({ path: 'a' });
    expect(listViews('read_files', { path: './a' }, 'classic')).toEqual({ path: 'sub/a' });
    expect(listViews('Grep', { pattern: 'x' }, 'classic')).toEqual({ path: 'sub', regex: 'x' });
  });

  test('are as written for SDK hooks', () => {
    expect(listViews('Write', { file_path: './b', content: '' }, 'sdk')).toEqual({
      path: './b',
      new_text: '',
    });
  });

  test('with a tilde are left alone', () => {
    expect(listViews('Read', { file_path: '~/b' }, 'claude')).toEqual({ file_path: '~/b' });
    expect(listViews('read_files', { path: '~/b' }, 'classic')).toEqual({ path: '~/b' });
  });

  test('without a root are relative to the working directory', () => {
    const call = { name: 'Read', input: { file_path: '/ws/a' } };
    const bare = { cwd: '/ws', root: null };
    expect(listToolViews(call, 'classic', bare)[0]?.input).toEqual({ path: 'a' });
  });
});

describe('names', () => {
  test('of plugin tools, and their input, are the same everywhere', () => {
    const input = { path: 'a' };
    for (const to of VOCABULARIES) {
      const [view] = listToolViews({ name: 'deploy', input }, to, context);
      expect(view).toEqual({ name: 'deploy', input, part: null });
      expect(view?.input).toBe(input);
    }
  });

  test.each(['TaskCreate', 'TaskUpdate', 'browser_action', 'attempt_completion', '__proto__'])(
    '%s has one view',
    (name) => {
      for (const to of VOCABULARIES) {
        expect(listToolViews({ name, input: {} }, to, context)).toEqual([
          { name, input: {}, part: null },
        ]);
      }
    },
  );

  test('of a sub-agent’s old tool become the new one', () => {
    expect(listToolViews({ name: 'Task', input: { prompt: 'x' } }, 'claude', context)).toEqual([
      { name: 'Agent', input: { prompt: 'x' }, part: null },
    ]);
  });

  test('of a server tool with arguments that are no JSON include them', () => {
    const input = { server_name: 's', tool_name: 't', arguments: '{"rm": ' };
    expect(listToolViews({ name: 'use_mcp_tool', input }, 'claude', context)).toEqual([
      { name: 'mcp__s__t', input: { arguments: '{"rm": ' }, part: null },
    ]);
  });

  test('of a server tool without a server stay', () => {
    const call = { name: 'use_mcp_tool', input: { tool_name: 't' } };
    expect(listToolViews(call, 'claude', context)).toEqual([{ ...call, part: null }]);
  });
});

describe('the names of a part', () => {
  const names = (name: string, input: unknown, to: Vocabulary): unknown[] => {
    const call = { name, input };
    return listToolViews(call, to, context).map((view) => listToolNames(call, view));
  };
  const editing = ['Edit', 'replace_in_file', 'editor'];
  const writing = ['Write', 'write_to_file', 'editor'];

  test('are those of every vocabulary', () => {
    expect(names('Edit', {}, 'claude')).toEqual([editing]);
    expect(names('Bash', {}, 'sdk')).toEqual([['Bash', 'execute_command', 'run_commands']]);
    expect(names('list_files', {}, 'sdk')).toEqual([['Glob', 'list_files']]);
    expect(names('deploy', {}, 'claude')).toEqual([['deploy']]);
  });

  test('include the name that the call came under', () => {
    const patch = '*** Add File: a\n+x\n*** Update File: b\n-x';
    expect(names('apply_patch', { input: patch }, 'classic')).toEqual([
      [...writing, 'apply_patch'],
      [...editing, 'apply_patch'],
    ]);
    expect(names('apply_patch', { input: patch }, 'sdk')).toEqual([
      ['Write', 'write_to_file', 'editor', 'Edit', 'replace_in_file', 'apply_patch'],
    ]);
    expect(names('MultiEdit', {}, 'claude')).toEqual([[...editing, 'MultiEdit']]);
  });

  test('of an editor call are those of its action', () => {
    expect(names('editor', { path: 'a', new_text: 'x' }, 'sdk')).toEqual([writing]);
    expect(names('editor', { path: 'a', new_text: 'x' }, 'claude')).toEqual([writing]);
    expect(names('editor', { path: 'a', new_text: 'x', old_text: 'y' }, 'sdk')).toEqual([editing]);
  });

  test('of a sub-agent include the old one too', () => {
    expect(names('spawn_agent', {}, 'claude')).toEqual([
      ['Agent', 'Task', 'new_task', 'spawn_agent'],
    ]);
  });

  test('of a server’s tool are all three', () => {
    const input = { server_name: 's', tool_name: 't' };
    const all = ['mcp__s__t', 'use_mcp_tool', 's__t'];
    expect(names('use_mcp_tool', input, 'claude')).toEqual([all]);
    expect(names('mcp__s__t', {}, 'claude')).toEqual([all]);
    expect(names('s__t', {}, 'classic')).toEqual([all]);
  });

  test('of a notebook edit are its own, not those of Edit', () => {
    expect(names('NotebookEdit', {}, 'classic')).toEqual([
      ['NotebookEdit', 'replace_in_file', 'editor'],
    ]);
  });

  test('belong to one vocabulary each', () => {
    expect(
      [
        'Read',
        'Task',
        'MultiEdit',
        'mcp__a__b',
        'read_file',
        'use_mcp_tool',
        'editor',
        'a__b',
        'deploy',
      ].map(findVocabulary),
    ).toEqual(['claude', 'claude', 'claude', 'claude', 'classic', 'classic', 'sdk', 'sdk', null]);
  });

  test('are in one table', () => {
    expect(TOOL_NAMES).toEqual([
      { claude: 'Read', classic: ['read_file'], sdk: ['read_files'] },
      { claude: 'Write', classic: ['write_to_file'], sdk: ['editor', 'apply_patch'] },
      { claude: 'Edit', classic: ['replace_in_file'], sdk: ['editor', 'apply_patch'] },
      { claude: 'Bash', classic: ['execute_command'], sdk: ['run_commands'] },
      { claude: 'Grep', classic: ['search_files'], sdk: ['search_codebase'] },
      { claude: 'Glob', classic: ['list_files'], sdk: [] },
      { claude: 'WebFetch', classic: ['web_fetch'], sdk: ['fetch_web_content'] },
      { claude: 'WebSearch', classic: ['web_search'], sdk: ['web_search'] },
      { claude: 'Agent', classic: ['new_task'], sdk: ['spawn_agent'] },
      { claude: 'TodoWrite', classic: ['focus_chain'], sdk: [] },
      { claude: 'AskUserQuestion', classic: ['ask_followup_question'], sdk: ['ask_question'] },
      { claude: 'Skill', classic: ['use_skill'], sdk: ['skills'] },
      { claude: 'NotebookEdit', classic: ['replace_in_file'], sdk: ['editor'] },
      { claude: 'ReadMcpResourceTool', classic: ['access_mcp_resource'], sdk: [] },
      { claude: 'MultiEdit', classic: ['replace_in_file'], sdk: ['editor'] },
      { claude: 'TaskCreate', classic: [], sdk: [] },
      { claude: 'TaskUpdate', classic: [], sdk: [] },
      { claude: 'ToolSearch', classic: [], sdk: [] },
      { claude: 'ExitPlanMode', classic: [], sdk: [] },
      { claude: 'ListMcpResourcesTool', classic: [], sdk: [] },
      { claude: 'mcp__<server>__<tool>', classic: ['use_mcp_tool'], sdk: ['<server>__<tool>'] },
    ]);
  });
});

describe('the result of a call', () => {
  const text = (value: string): ToolResult => ({ response: undefined, text: value, success: true });
  const plural: ToolResult = {
    ...text('both'),
    parts: [text('one'), { ...text('two'), success: false, error: 'exit 1' }],
  };
  const commands = { name: 'run_commands', input: { commands: ['a', 'b'] } };

  test('is Claude’s own response when there is one', () => {
    const response = { stdout: 'x' };
    const result = { ...text('x'), response };
    const bash = { name: 'Bash', input: { command: 'a' } };
    expect(formatResult(bash, result, 'claude', null)).toBe(response);
  });

  test('is built for Claude from the text otherwise', () => {
    expect(formatResult(commands, plural, 'claude', 1)).toEqual({
      stdout: 'two',
      stderr: '',
      interrupted: false,
      isImage: false,
      noOutputExpected: false,
    });
    const readCall = { name: 'read_file', input: { path: 'a' } };
    expect(formatResult(readCall, text('x'), 'claude', null)).toBe('x');
    const alone = { ...text('all'), parts: [text('inner')] };
    expect(formatResult(readCall, alone, 'claude', null)).toBe('inner');
  });

  test('is text for classic hooks', () => {
    expect(formatResult(commands, plural, 'classic', 0)).toBe('one');
    expect(formatResult(commands, text('x'), 'classic', 1)).toBe('x');
  });

  test('is rows for SDK hooks, one for each part', () => {
    expect(formatResult(commands, plural, 'sdk', null)).toEqual([
      { query: 'a', result: 'one', success: true },
      { query: 'b', result: 'two', success: false, error: 'exit 1' },
    ]);
    expect(formatResult(commands, text('x'), 'sdk', null)).toEqual([
      { query: 'a', result: 'x', success: true },
      { query: 'b', result: 'x', success: true },
    ]);
    expect(
      formatResult({ name: 'Read', input: { file_path: '/a' } }, text('x'), 'sdk', null),
    ).toEqual([{ query: '/a', result: 'x', success: true }]);
    expect(formatResult({ name: 'Grep', input: { pattern: 'p' } }, text('x'), 'sdk', null)).toEqual(
      [{ query: 'p', result: 'x', success: true }],
    );
    expect(
      formatResult({ name: 'web_fetch', input: { url: 'u' } }, text('x'), 'sdk', null),
    ).toEqual([{ query: 'u', result: 'x', success: true }]);
  });

  test('is one row for an editor, and text for the rest', () => {
    const write = { name: 'Write', input: { file_path: 'a', content: '' } };
    expect(formatResult(write, text('ok'), 'sdk', null)).toEqual({
      query: 'a',
      result: 'ok',
      success: true,
    });
    for (const name of ['apply_patch', 'Glob', 'AskUserQuestion', 'srv__echo', 'deploy']) {
      expect(formatResult({ name, input: {} }, text('ok'), 'sdk', null)).toBe('ok');
    }
  });
});
