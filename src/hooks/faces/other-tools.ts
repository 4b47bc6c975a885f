import { isRecord, parseJson } from '../../base/json.ts';
import { quoteShellWord } from '../../base/shell-word.ts';
import { expectedObject, listFace, plainFace, renamedFace, type Face, type Tool } from './face.ts';
import { findArray, findText, rawText, without, type Fields } from './fields.ts';

export const BASH: Tool = {
  claude: plainFace('Bash', [
    'command',
    'description',
    'timeout',
    'run_in_background',
    'dangerouslyDisableSandbox',
  ]),
  classic: renamedFace({
    name: 'execute_command',
    keys: { command: 'command' },
    constants: { requires_approval: false },
  }),
  sdk: listFace('run_commands', {
    lists: ['commands'],
    subjects: ['command', 'cmd'],
    field: 'command',
    element: 'text',
    toldBeside: { key: 'args', join: commandLine },
  }),
  essential: ['command'],
};

export const GREP: Tool = {
  claude: plainFace('Grep', [
    'pattern',
    'path',
    'glob',
    'type',
    'output_mode',
    '-A',
    '-B',
    '-C',
    '-n',
    '-i',
    '-o',
    'head_limit',
    'offset',
    'multiline',
  ]),
  classic: renamedFace({
    name: 'search_files',
    keys: { path: 'path', pattern: 'regex', glob: 'file_pattern' },
  }),
  sdk: listFace('search_codebase', {
    lists: ['queries'],
    subjects: ['query', 'pattern', 'regex'],
    field: 'pattern',
    element: 'text',
  }),
  essential: ['pattern'],
  pathField: 'path',
  defaultPath: '.',
};

export const GLOB: Tool = {
  claude: plainFace('Glob', ['pattern', 'path']),
  classic: listFilesFace(),
  sdk: null,
  essential: ['pattern'],
  pathField: 'path',
  defaultPath: '.',
};

export const WEB_FETCH: Tool = {
  claude: plainFace('WebFetch', ['url', 'prompt', 'offset']),
  classic: renamedFace({ name: 'web_fetch', keys: { url: 'url', prompt: 'prompt' } }),
  sdk: listFace('fetch_web_content', {
    lists: ['requests', 'urls'],
    subjects: ['url'],
    field: 'url',
    element: 'object',
    toFields: ({ prompt }) => (prompt === undefined ? {} : { prompt }),
    toElement: ({ prompt }) => (prompt === undefined ? {} : { prompt }),
  }),
  essential: ['url'],
};

const SEARCH_KEYS = ['query', 'allowed_domains', 'blocked_domains'];

const CLINES_SEARCH = renamedFace({
  name: 'web_search',
  keys: Object.fromEntries(SEARCH_KEYS.map((key) => [key, key])),
});

/** Hookline has none; a plugin may bring one under Cline's name. */
export const WEB_SEARCH: Tool = {
  claude: plainFace('WebSearch', SEARCH_KEYS),
  classic: CLINES_SEARCH,
  sdk: CLINES_SEARCH,
  essential: ['query'],
};

export const AGENT: Tool = {
  claude: plainFace('Agent', [
    'description',
    'prompt',
    'subagent_type',
    'model',
    'run_in_background',
    'name',
    'isolation',
    'effort',
  ]),
  classic: renamedFace({ name: 'new_task', keys: { prompt: 'context' } }),
  sdk: renamedFace({ name: 'spawn_agent', keys: { prompt: 'task' } }),
  essential: ['prompt'],
  formerName: 'Task',
};

export const SKILL: Tool = {
  claude: plainFace('Skill', ['skill', 'args']),
  classic: renamedFace({ name: 'use_skill', keys: { skill: 'skill_name' } }),
  sdk: renamedFace({ name: 'skills', keys: { skill: 'skill', args: 'args' } }),
  essential: ['skill'],
};

export const TODO_WRITE: Tool = {
  claude: plainFace('TodoWrite', ['todos']),
  classic: checklistFace(),
  sdk: null,
  essential: [],
};

export const ASK_USER_QUESTION: Tool = {
  claude: listFace('AskUserQuestion', {
    lists: ['questions'],
    subjects: ['question'],
    field: 'question',
    element: 'object',
    toFields: (element) => without(element, 'question'),
    toElement: (fields) => ({
      header: '',
      multiSelect: false,
      ...without(fields, 'question'),
    }),
  }),
  classic: questionFace('ask_followup_question', (labels) => JSON.stringify(labels)),
  sdk: questionFace('ask_question', (labels) => labels),
  essential: ['question'],
};

// A program with its arguments runs without a shell; quoting keeps each argument one word.
function commandLine(command: string, args: unknown): string {
  const words = (findArray(args) ?? []).map(rawText);
  return [command, ...words.map(quoteShellWord)].join(' ');
}

function listFilesFace(): Face {
  return {
    name: 'list_files',
    keys: ['path', 'recursive'],
    constants: {},
    list: null,
    show: ({ path, pattern }) => ({
      ...(path === undefined ? {} : { path }),
      recursive: isRecursive(pattern),
    }),
    read: (given, base) => {
      if (!isRecord(given)) return expectedObject(given);
      const recursive = given['recursive'] === true || given['recursive'] === 'true';
      const isKept = base['pattern'] !== undefined && isRecursive(base['pattern']) === recursive;
      const pattern = recursive ? '**/*' : '*';
      return {
        pattern: isKept ? base['pattern'] : pattern,
        ...(given['path'] === undefined ? {} : { path: given['path'] }),
      };
    },
  };
}

function isRecursive(pattern: unknown): boolean {
  return typeof pattern === 'string' && pattern.includes('**');
}

function checklistFace(): Face {
  return {
    name: 'focus_chain',
    keys: ['task_progress'],
    constants: {},
    list: null,
    show: ({ todos }) => ({ task_progress: listIn(todos).map(checklistLine).join('\n') }),
    read: (given, base) => {
      if (!isRecord(given)) return expectedObject(given);
      const known = listIn(base['todos']).filter(isRecord);
      const lines = rawText(given['task_progress']).split('\n');
      return { todos: lines.flatMap((line) => todosIn(line, known)) };
    },
  };
}

function checklistLine(todo: unknown): string {
  if (!isRecord(todo)) return `- [ ] ${rawText(todo)}`;
  const mark = todo['status'] === 'completed' ? 'x' : ' ';
  return `- [${mark}] ${findText(todo, ['content', 'activeForm']) ?? ''}`;
}

function todosIn(line: string, known: readonly Fields[]): Fields[] {
  const [, mark, rest] = /^[-*]\s*\[(.)\](.*)$/.exec(line.trim()) ?? [];
  if (mark === undefined || rest === undefined) return [];
  const content = rest.trim();
  const same = known.find((todo) => todo['content'] === content);
  const open = same === undefined || same['status'] === 'completed' ? 'pending' : same['status'];
  const status = mark === ' ' ? open : 'completed';
  return [{ content, activeForm: content, ...same, status }];
}

function questionFace(name: string, format: (labels: readonly string[]) => unknown): Face {
  return {
    name,
    keys: ['question', 'options'],
    constants: {},
    list: null,
    show: ({ question, options }) => ({
      question,
      ...(options === undefined ? {} : { options: format(listIn(options).map(labelOf)) }),
    }),
    read: (given, base) => {
      if (!isRecord(given)) return expectedObject(given);
      const { question, options } = given;
      if (options === undefined) return { question };
      const known = listIn(base['options']).filter(isRecord);
      return { question, options: listIn(options).map((label) => optionFor(label, known)) };
    },
  };
}

function labelOf(option: unknown): string {
  return isRecord(option) ? (findText(option, ['label']) ?? '') : rawText(option);
}

function optionFor(option: unknown, known: readonly Fields[]): Fields {
  const label = labelOf(option);
  return known.find((candidate) => candidate['label'] === label) ?? { label, description: '' };
}

function listIn(value: unknown): readonly unknown[] {
  const list = findArray(value);
  if (list !== null) return list;
  if (typeof value !== 'string') return [];
  const parsed = parseJson(value);
  return (parsed.ok ? findArray(parsed.value) : null) ?? [];
}
