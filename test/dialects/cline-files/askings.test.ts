import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createClineFilesDiscoverer } from '../../../src/dialects/cline-files/discover.ts';
import type { Profile } from '../../../src/dialects/cline-files/events.ts';
import { findNames } from '../../../src/dialects/cline-files/tool-mentions.ts';
import type { FailurePolicy, Verdict } from '../../../src/hooks/decision.ts';
import type { HookEngine } from '../../../src/hooks/engine.ts';
import type { FiredEvent } from '../../../src/hooks/facts.ts';
import { createProgramFinder } from '../../../src/process/program-finder.ts';
import {
  listNamesIn,
  listNamesOfCall,
  VOCABULARIES,
} from '../../../src/tool-vocabularies/tool-views.ts';
import { createDirectory } from '../../base/directory.ts';
import { engineOf } from '../../hooks/handlers.ts';

type Files = Readonly<Record<string, string>>;

/** An engine over the hooks of a workspace whose hook directory holds these files. */
function engineWith(
  files: Files,
  profiles: Readonly<Record<string, Profile>> = {},
  onFailure: FailurePolicy = 'open',
): HookEngine {
  const named = Object.entries(files).map(
    ([name, text]) => [path.join('.cline', 'hooks', name), text] as const,
  );
  const root = createDirectory(Object.fromEntries(named));
  const { hooks } = createClineFilesDiscoverer({
    places: {
      home: null,
      documents: [],
      clineDirectory: null,
      workspaceRoots: [root],
      hooksDirectory: null,
    },
    searchPath: undefined,
    machine: {
      platform: process.platform,
      findProgram: createProgramFinder(process.env['PATH'], process.platform),
      nodePath: process.execPath,
      typescriptLoader: '',
    },
    profiles,
    cancel: 'deny',
    maxContextChars: 50_000,
    timeoutMs: 120_000,
  }).discover();
  const handlers = hooks.flatMap((hook) =>
    hook.toHandlers({
      onFailure,
      timeoutMs: 120_000,
      environment: { PATH: process.env['PATH'] ?? '' },
      withheld: () => null,
    }),
  );
  return engineOf(handlers);
}

function call(name: string, input: object = INPUTS[name] ?? {}): FiredEvent<'PreToolUse'> {
  return { name: 'PreToolUse', tool: { callId: 'c', name, input } };
}

const PATCH = '*** Begin Patch\n*** Update File: a.ts\n@@\n-x\n+y\n*** End Patch';

/** A usable input for each tool. */
const INPUTS: Readonly<Record<string, object>> = {
  Read: { file_path: '/ws/a' },
  Write: { file_path: '/ws/a', content: 'x' },
  Edit: { file_path: '/ws/a', old_string: 'x', new_string: 'y' },
  MultiEdit: { file_path: '/ws/a', edits: [{ old_string: 'x', new_string: 'y' }] },
  Bash: { command: 'ls' },
  Grep: { pattern: 'x' },
  Glob: { pattern: '*' },
  WebFetch: { url: 'https://example.org', prompt: 'p' },
  WebSearch: { query: 'q' },
  Agent: { prompt: 'p', description: 'd' },
  Task: { prompt: 'p', description: 'd' },
  Skill: { skill: 's' },
  AskUserQuestion: { questions: [{ question: 'q', options: [] }] },
  TodoWrite: { todos: [] },
  NotebookEdit: { notebook_path: '/ws/a.ipynb', new_source: 'x' },
  ReadMcpResourceTool: { server: 's', uri: 'note://one' },
  read_file: { path: 'a' },
  write_to_file: { path: 'a', content: 'x' },
  replace_in_file: {
    path: 'a',
    diff: '------- SEARCH\nx\n=======\ny\n+++++++ REPLACE',
  },
  execute_command: { command: 'ls', requires_approval: false },
  search_files: { path: '.', regex: 'x' },
  list_files: { path: '.' },
  web_fetch: { url: 'https://example.org', prompt: 'p' },
  web_search: { query: 'q' },
  new_task: { context: 'c' },
  focus_chain: { task_progress: '- [ ] a' },
  ask_followup_question: { question: 'q' },
  use_skill: { skill_name: 's' },
  access_mcp_resource: { server_name: 's', uri: 'note://one' },
  use_mcp_tool: { server_name: 'github', tool_name: 'create_issue', arguments: '{}' },
  read_files: { files: [{ path: 'a' }] },
  editor: { path: 'a', new_text: 'x' },
  apply_patch: { input: PATCH },
  run_commands: { commands: ['ls'] },
  search_codebase: { queries: ['x'] },
  fetch_web_content: { requests: [{ url: 'https://example.org', prompt: 'p' }] },
  ask_question: { question: 'q' },
  spawn_agent: { task: 't' },
  skills: { skill: 's' },
  github__create_issue: {},
  mcp__github__create_issue: {},
};

const DENY = `echo '{"cancel":true,"errorMessage":"guarded"}'; exit 0`;
const TOOL = `tool=$(sed -n 's/.*"toolName":"\\([^"]*\\)".*/\\1/p')`;
const SDK_FIRST = `
input=$(cat)
tool=$(printf %s "$input" | sed -n 's/.*"tool_call":{"id":"[^"]*","name":"\\([^"]*\\)".*/\\1/p')
if [ -z "$tool" ]; then tool=$(printf %s "$input" | sed -n 's/.*"toolName":"\\([^"]*\\)".*/\\1/p'); fi`;

/** Guards that deny when they see one name, each in another way to write it. */
const GUARDS: Readonly<Record<string, (name: string) => Files>> = {
  'an arm of a case': (name) => shell(`${TOOL}\ncase "$tool" in ${name}) ${DENY} ;; esac`),
  'one of several arms': (name) =>
    shell(`${TOOL}\ncase "$tool" in some_tool|${name}|more) ${DENY} ;; esac`),
  'a comparison': (name) => shell(`${TOOL}\nif [ "$tool" = ${name} ]; then ${DENY}; fi`),
  'a quoted comparison': (name) => shell(`${TOOL}\nif [ "$tool" = "${name}" ]; then ${DENY}; fi`),
  'a list of words': (name) =>
    shell(
      `${TOOL}\nfor each in ${name} other_tool; do [ "$tool" = "$each" ] && { ${DENY}; }; done`,
    ),
  'a search in the payload': (name) =>
    shell(`if grep -Eq '"toolName":"(${name})"'; then ${DENY}; fi`),
  'a table of rules': (name) => ({
    'PreToolUse.py': `import json, sys

RULES = {"first_of_all": "deny", ${JSON.stringify(name)}: "deny"}
if RULES.get(json.load(sys.stdin)["preToolUse"]["toolName"]) == "deny":
    print('{"cancel": true, "errorMessage": "guarded"}')
`,
  }),
  'a glob': (name) => shell(`${TOOL}\ncase "$tool" in *${name.slice(1)}*) ${DENY} ;; esac`),
  'the key of the SDK first': (name) =>
    shell(`${SDK_FIRST}\ncase "$tool" in ${name}) ${DENY} ;; esac`),
  'a helper that it loads': (name) => ({
    ...shell(`. "$(dirname "$0")/rules.sh"`),
    'rules.sh': `${TOOL}\ncase "$tool" in ${name}) ${DENY} ;; esac\n`,
  }),
  'a list beside it': (name) => ({
    ...shell(`${TOOL}\ngrep -qx "$tool" "$(dirname "$0")/denied.txt" && { ${DENY}; }\nexit 0`),
    'denied.txt': `first_of_all\n${name}\nlast\n`,
  }),
};

function shell(text: string): Files {
  return { PreToolUse: `#!/bin/sh\n${text}\n` };
}

/** Code that names more tools of one generation than the guard, so that its profile is that one. */
const DECOYS: Readonly<Record<string, string>> = {
  nothing: '',
  classic: 'known="list_code_definition_names browser_action attempt_completion"',
  sdk: 'known="ask_question spawn_agent search_codebase"',
};

/** Whether the interpreter of a guard is missing here. */
function isMissing(form: string): boolean {
  const find = createProgramFinder(process.env['PATH'], process.platform);
  return form === 'a table of rules' && find('python3') === null;
}

function addDecoy(file: string, text: string, decoy: string): string {
  return file.startsWith('PreToolUse') ? text.replace('\n', `\n${decoy}\n`) : text;
}

const ALL_NAMES = [
  ...VOCABULARIES.flatMap(listNamesIn),
  'github__create_issue',
  'mcp__github__create_issue',
].filter((name) => name in INPUTS);

describe('a guard that denies the name that the model called', () => {
  test('has an input for every tool of every vocabulary that has other forms', () => {
    const without = VOCABULARIES.flatMap(listNamesIn).filter((name) => !(name in INPUTS));
    expect(without).toEqual([
      'TaskCreate',
      'TaskUpdate',
      'ToolSearch',
      'ExitPlanMode',
      'ListMcpResourcesTool',
    ]);
  });

  for (const [form, write] of Object.entries(GUARDS)) {
    for (const [generation, decoy] of Object.entries(DECOYS)) {
      test.skipIf(isMissing(form))(
        `denies it, written as ${form} beside tools of ${generation}`,
        async () => {
          const verdicts = await Promise.all(
            ALL_NAMES.map(async (name) => {
              const files = Object.fromEntries(
                Object.entries(write(name)).map(([file, text]) => [
                  file,
                  addDecoy(file, text, decoy),
                ]),
              );
              const { effect } = await engineWith(files).dispatch(call(name));
              return `${name}: ${effect}`;
            }),
          );
          expect(verdicts).toEqual(ALL_NAMES.map((name) => `${name}: deny`));
        },
      );
    }
  }
});

test('a guard of one vocabulary denies its tool under every name that a model has for it', async () => {
  const pairs = VOCABULARIES.flatMap((vocabulary) =>
    ALL_NAMES.flatMap((called) =>
      listNamesOfCall({ name: called, input: INPUTS[called] }, vocabulary)
        .filter((name) => listNamesIn(vocabulary).includes(name))
        .map((name) => [name, called] as const),
    ),
  );
  expect(pairs.length).toBeGreaterThan(100);
  const verdicts = await Promise.all(
    pairs.map(async ([name, called]) => {
      const engine = engineWith(shell(`${TOOL}\ncase "$tool" in ${name}) ${DENY} ;; esac`));
      const { effect } = await engine.dispatch(call(called));
      return `${name}, called ${called}: ${effect}`;
    }),
  );
  expect(verdicts.filter((each) => !each.endsWith('deny'))).toEqual([]);
});

test('every tool of every vocabulary is found in a text', () => {
  const names = VOCABULARIES.flatMap(listNamesIn).filter((name) => name in INPUTS);
  expect(names.filter((name) => !findNames(`"${name}" == tool`).certain.has(name))).toEqual([]);
});

/** What a hook saw, each run in a line: its context is the name of the tool. */
const SAYS_TOOL = `${TOOL}\nprintf '{"contextModification":"%s"}' "$tool"`;

function describeRuns({ outcomes }: Verdict): string[] {
  return outcomes.map(({ vocabulary, decision }) => `${vocabulary ?? 'own'} ${decision?.context}`);
}

describe('a hook is asked', () => {
  test.each<[string, string, string, string[]]>([
    [
      'once, as the tool was called, when its text names that',
      'write_to_file editor',
      'write_to_file',
      ['own write_to_file'],
    ],
    [
      'in the SDK’s vocabulary though its profile is classic',
      'write_to_file|replace_in_file|apply_patch',
      'apply_patch',
      ['sdk apply_patch'],
    ],
    [
      'in the classic one though its profile is sdk',
      'run_commands read_files write_to_file',
      'write_to_file',
      ['classic write_to_file'],
    ],
    [
      'in both, when it names tools of both and not the called one',
      'write_to_file|run_commands',
      'Bash',
      ['classic execute_command', 'sdk run_commands'],
    ],
    [
      'in both, its profile first',
      'write_to_file run_commands read_files',
      'Write',
      ['sdk editor', 'classic write_to_file'],
    ],
    [
      'once, when it names tools of one vocabulary',
      'write_to_file',
      'Bash',
      ['own execute_command'],
    ],
    ['once, when it names no tool', 'log', 'Bash', ['own execute_command']],
    [
      'in its profile, when only a comment names the called tool',
      'run_commands\n# not write_to_file',
      'write_to_file',
      ['own editor'],
    ],
    [
      'once about a tool that no vocabulary translates',
      'write_to_file|run_commands',
      'deploy',
      ['own deploy'],
    ],
    [
      'once about a tool that has one name in both',
      'write_to_file|run_commands',
      'web_search',
      ['own web_search'],
    ],
    [
      'in Claude’s vocabulary, when its text names that tool',
      'Bash|execute_command',
      'Bash',
      ['claude Bash'],
    ],
    [
      'in its own, when a sentence contains a word that Claude has as a tool',
      'echo "Read access only"; deny read_file|x)',
      'Read',
      ['own read_file'],
    ],
    [
      'also in Claude’s vocabulary, when its text names the tool only there',
      '[ "$tool" = Bash ]',
      'run_commands',
      ['classic execute_command', 'claude Bash'],
    ],
    [
      'in its own alone, when it knows the tool there, too',
      'case "$tool" in Bash|execute_command) ;; esac',
      'run_commands',
      ['own execute_command'],
    ],
    ['under a former name that its text has', 'Task|Agent', 'Task', ['claude Task']],
    [
      'also as it was called, when a message of its code has that name',
      'echo "do not use run_commands here"; [ "$tool" = execute_command ]',
      'run_commands',
      ['classic execute_command', 'sdk run_commands'],
    ],
    [
      'in both about a pattern that fits both',
      'case "$tool" in *file*) ;; esac',
      'Read',
      ['classic read_file', 'sdk read_files'],
    ],
  ])('%s', async (_title, code, name, runs) => {
    const engine = engineWith(shell(`${SAYS_TOOL}\nexit 0\n${code}`));
    expect(describeRuns(await engine.dispatch(call(name)))).toEqual(runs);
  });

  // The shell reads these as scripts, whose last lines have bytes that no text has.
  test.each([
    ['once, when it names no tool', 'x', 'Bash', ['own execute_command']],
    ['under the called name, when it has it', 'read_files', 'read_files', ['own read_files']],
    ['in its own generation alone', 'read_filesx', 'Bash', ['own run_commands']],
    [
      'in both, when it names tools of both',
      'xwrite_to_file\0run_commandsx',
      'Read',
      ['classic read_file', 'sdk read_files'],
    ],
    [
      'in every vocabulary, when it is packed',
      'UPX!',
      'Bash',
      ['classic execute_command', 'sdk run_commands', 'claude Bash'],
    ],
  ])('of a compiled program, %s', async (_title, strings, name, runs) => {
    const engine = engineWith(shell(`${SAYS_TOOL}\nexit 0\n\0${strings}\0`));
    expect(describeRuns(await engine.dispatch(call(name)))).toEqual(runs);
  });

  test('in the strings of a compiled program behind its first megabyte', async () => {
    const code = 'x\0'.repeat(600_000);
    const engine = engineWith(shell(`${SAYS_TOOL}\nexit 0\n${code}run_commands\0`));
    expect(describeRuns(await engine.dispatch(call('Bash')))).toEqual(['own run_commands']);
  });

  test('in the profile that is set for it, whatever its text names', async () => {
    const files = shell(`known="write_to_file run_commands"\n${SAYS_TOOL}`);
    const engine = engineWith(files, { 'cline:workspace-cline:PreToolUse': 'sdk' });
    expect(describeRuns(await engine.dispatch(call('Write')))).toEqual(['own editor']);
    expect(describeRuns(await engine.dispatch(call('write_to_file')))).toEqual(['own editor']);
  });
});

describe('a hook that is asked in both vocabularies', () => {
  const BOTH = 'known="write_to_file run_commands"';

  test('denies with its strictest answer', async () => {
    const engine = engineWith(
      shell(`${BOTH}\n${TOOL}\n[ "$tool" = run_commands ] && { ${DENY}; }`),
    );
    const { effect, reasons } = await engine.dispatch(call('Bash'));
    expect({ effect, reasons }).toEqual({
      effect: 'deny',
      reasons: [{ hook: 'cline:workspace-cline:PreToolUse', text: 'guarded' }],
    });
  });

  test('gives equal contexts and reasons once', async () => {
    const text = `${BOTH}\necho '{"cancel":true,"errorMessage":"no","contextModification":"hint"}'`;
    const { reasons, context, outcomes } = await engineWith(shell(text)).dispatch(call('Bash'));
    const hook = 'cline:workspace-cline:PreToolUse';
    expect({ reasons, context, runs: outcomes.length }).toEqual({
      reasons: [{ hook, text: 'no' }],
      context: [{ hook, text: 'hint' }],
      runs: 2,
    });
  });

  test('rewrites the call in its first vocabulary only, and a note says so', async () => {
    const rewrites = `${BOTH}
${TOOL}
case "$tool" in
  execute_command) echo '{"overrideInput":{"command":"first","requires_approval":false}}' ;;
  run_commands) echo '{"overrideInput":{"commands":["second"]}}' ;;
esac`;
    const { input, outcomes } = await engineWith(shell(rewrites)).dispatch(call('Bash'));
    expect({ input, notes: outcomes.map(({ notes }) => notes) }).toEqual({
      input: { command: 'first' },
      notes: [[], ['its rewrite is ignored: only the one in its first vocabulary counts']],
    });
  });

  test('sees every part of a call in each of them', async () => {
    const engine = engineWith(shell(`known="write_to_file search_codebase"\n${SAYS_TOOL}`));
    const event = call('read_files', { files: [{ path: 'a' }, { path: 'b' }] });
    expect(describeRuns(await engine.dispatch(event))).toEqual([
      'classic read_file',
      'classic read_file',
      'sdk read_files',
    ]);
  });

  test('is explained with both, and why', () => {
    const engine = engineWith(shell(BOTH));
    const why = 'its text names tools of both vocabularies';
    expect(engine.explain(call('Bash')).runs.map(({ vocabularies }) => vocabularies)).toEqual([
      [
        { vocabulary: 'classic', tools: ['execute_command'], why },
        { vocabulary: 'sdk', tools: ['run_commands'], why },
      ],
    ]);
    expect(engine.explain(call('run_commands')).runs[0]?.vocabularies).toEqual([
      { vocabulary: 'sdk', tools: ['run_commands'], why: 'its text names run_commands' },
    ]);
  });
});

test('a payload is of the generation whose tool it shows, also in hookName', async () => {
  const says = `sed 's/.*"hookName":"\\([^"]*\\)".*"toolName":"\\([^"]*\\)".*"tool_call":{"id":"c","name":"\\([^"]*\\)".*/{"contextModification":"\\1 \\2 \\3"}/'`;
  const engine = engineWith(
    shell(`known="preToolUse write_to_file replace_in_file run_commands apply_patch"\n${says}`),
  );
  const runs = await Promise.all(
    ['Bash', 'run_commands', 'execute_command', 'apply_patch'].map(async (name) =>
      describeRuns(await engine.dispatch(call(name))),
    ),
  );
  expect(runs).toEqual([
    [
      'classic PreToolUse execute_command execute_command',
      'sdk tool_call run_commands run_commands',
    ],
    ['sdk tool_call run_commands run_commands'],
    [
      'classic PreToolUse execute_command execute_command',
      'sdk tool_call run_commands run_commands',
    ],
    ['sdk PreToolUse apply_patch apply_patch'],
  ]);
});

describe('a hook that knows no name under which it sees the tool', () => {
  const HOOK = 'cline:workspace-cline:PreToolUse';
  const guard = (names: string): Files =>
    shell(`${TOOL}\ncase "$tool" in ${names}) ${DENY} ;; esac`);

  async function listWarnings(
    names: string,
    called: string,
    profile?: Profile,
  ): Promise<readonly string[]> {
    const engine = engineWith(guard(names), profile === undefined ? {} : { [HOOK]: profile });
    const { messages, outcomes } = await engine.dispatch(call(called));
    expect(messages.map(({ text }) => text)).toEqual([
      ...new Set(outcomes.flatMap(({ notes }) => notes)),
    ]);
    return messages.map(({ text }) => text);
  }

  test('is warned about when its profile was set to another vocabulary than its text names', async () => {
    expect(await listWarnings('write_to_file', 'Write', 'sdk')).toEqual([
      'suspicious: it sees Write as editor, a name that its text does not know; its text names write_to_file',
    ]);
    expect(await listWarnings('run_commands|read_files', 'execute_command', 'classic')).toEqual([
      'suspicious: it sees execute_command, a name that its text does not know; its text names run_commands',
    ]);
  });

  test('is warned about when another tool stands for the called one', async () => {
    expect(await listWarnings('write_to_file', 'NotebookEdit')).toEqual([
      'suspicious: it sees NotebookEdit as replace_in_file, a name that its text does not know; its text names write_to_file',
    ]);
    expect(await listWarnings('apply_patch|run_commands', 'NotebookEdit')).toEqual([
      'suspicious: it sees NotebookEdit as editor, a name that its text does not know; its text names apply_patch',
    ]);
  });

  test.each([
    ['a guard of other tools', 'execute_command', 'Write', undefined],
    ['a guard of other tools, in a set profile', 'execute_command', 'Write', 'classic'],
    ['a set profile that fits', 'write_to_file', 'Write', 'classic'],
    ['a guard for one of two tools of its own generation', 'write_to_file', 'Edit', undefined],
    ['another tool stands for it, and a guard of commands', 'execute_command', 'NotebookEdit'],
    ['a pattern that fits', '*write*', 'Write', undefined],
    ['a tool of a plugin', 'write_to_file', 'deploy', undefined],
    ['a tool of a server', 'write_to_file', 'mcp__github__create_issue', undefined],
    ['a tool without a name in its vocabulary', 'run_commands|read_files', 'Glob', undefined],
    ['a hook that names no tool', 'x', 'Write', 'sdk'],
  ] as const)('is not assumed of %s', async (_title, names, called, profile?: Profile) => {
    expect(await listWarnings(names, called, profile)).toEqual([]);
  });

  test('sees the SDK’s names in `tool_call`, whatever its profile is', async () => {
    const files = shell(`${SDK_FIRST}\ncase "$tool" in run_commands) ${DENY} ;; esac`);
    const { effect } = await engineWith(files, { [HOOK]: 'classic' }).dispatch(call('Bash'));
    expect(effect).toBe('deny');
    const { messages } = await engineWith(files, { [HOOK]: 'classic' }).dispatch(call('Write'));
    expect(messages).toEqual([]);
  });

  test('fails where its failures refuse, and is explained', async () => {
    const engine = engineWith(guard('write_to_file'), {}, 'closed');
    const suspicion =
      'it sees NotebookEdit as replace_in_file, a name that its text does not know; its text names write_to_file';
    expect(await engine.dispatch(call('NotebookEdit'))).toMatchObject({
      effect: 'deny',
      reasons: [{ hook: HOOK, text: suspicion }],
      outcomes: [{ status: 'failed', failure: { kind: 'exit', message: suspicion } }],
    });
    expect(engine.explain(call('NotebookEdit')).runs).toMatchObject([{ suspicion }]);
    expect(engine.explain(call('Write')).runs[0]).not.toHaveProperty('suspicion');
  });
});
