import path from 'node:path';
import { CLAUDE } from './claude.ts';
import { CLASSIC, REPLACE_IN_FILE, USE_MCP_TOOL } from './classic.ts';
import type { ToolForm } from './tool-form.ts';
import type { Fields } from './fields.ts';
import { SDK, APPLY_PATCH, EDITOR } from './sdk.ts';
import {
  type ViewContext,
  isFixedPath,
  type McpTarget,
  type ToolKind,
  type Vocabulary,
  type VocabularyRules,
  type ToolCall,
  VOCABULARIES,
} from './vocabulary.ts';

/** The table of all vocabularies: a further one is a row here, and the compiler lists what else it needs. */
export const RULES: Readonly<Record<Vocabulary, VocabularyRules>> = {
  claude: CLAUDE,
  classic: CLASSIC,
  sdk: SDK,
};

/** One tool of the agent in every vocabulary; null where a vocabulary knows no such tool. */
export interface Tool {
  /** Text fields without which a call is incomplete; the first is its subject. */
  readonly essential: readonly string[];
  readonly pathField?: string;
  /** What a missing path means. */
  readonly defaultPath?: string;
  readonly changesFile?: true;
  readonly forms: Readonly<Record<Vocabulary, ToolForm | null>>;
  /** Claude's form, which is used where a vocabulary has none. */
  readonly defaultForm: ToolForm;
  readonly formerNames: readonly string[];
}

/** One part of a call: what it does, in Claude's vocabulary, and the way back into the call's input. */
export interface CallPart {
  readonly tool: Tool;
  /** Paths in it are as the model wrote them. */
  readonly fields: Fields;
  /**
   * Returns the call's whole input with these fields in this part. What the input cannot express
   * must be left as it was: the caller reads the result again and compares.
   */
  readonly put: (next: Fields) => unknown;
}

function createTool(
  kind: ToolKind,
  facts: Omit<Tool, 'forms' | 'defaultForm' | 'formerNames'>,
): Tool {
  const forms = mapVocabularies((rules) => rules.forms[kind]);
  const formerNames = Object.values(RULES).flatMap((rules) => rules.formerNames[kind] ?? []);
  return { ...facts, forms, formerNames, defaultForm: CLAUDE.forms[kind] };
}

/** Creates the tool of an MCP server: its fields are its arguments. */
function createMcpTool(target: McpTarget): Tool {
  const forms = mapVocabularies((rules) => rules.createMcpForm(target));
  return { essential: [], forms, formerNames: [], defaultForm: forms.claude };
}

function mapVocabularies<Value>(
  convert: (rules: VocabularyRules) => Value,
): Readonly<Record<Vocabulary, Value>> {
  return { claude: convert(CLAUDE), classic: convert(CLASSIC), sdk: convert(SDK) };
}

/** Every tool that has forms. */
export const TOOLS: Readonly<Record<ToolKind, Tool>> = {
  Read: createTool('Read', { essential: ['file_path'], pathField: 'file_path' }),
  Write: createTool('Write', {
    essential: ['file_path', 'content'],
    pathField: 'file_path',
    changesFile: true,
  }),
  Edit: createTool('Edit', {
    essential: ['file_path', 'old_string', 'new_string'],
    pathField: 'file_path',
    changesFile: true,
  }),
  Bash: createTool('Bash', { essential: ['command'] }),
  Grep: createTool('Grep', { essential: ['pattern'], pathField: 'path', defaultPath: '.' }),
  Glob: createTool('Glob', { essential: ['pattern'], pathField: 'path', defaultPath: '.' }),
  WebFetch: createTool('WebFetch', { essential: ['url'] }),
  WebSearch: createTool('WebSearch', { essential: ['query'] }),
  Agent: createTool('Agent', { essential: ['prompt'] }),
  TodoWrite: createTool('TodoWrite', { essential: [] }),
  AskUserQuestion: createTool('AskUserQuestion', { essential: ['question'] }),
  Skill: createTool('Skill', { essential: ['skill'] }),
  NotebookEdit: createTool('NotebookEdit', {
    essential: ['notebook_path', 'new_source'],
    pathField: 'notebook_path',
  }),
  ReadMcpResourceTool: createTool('ReadMcpResourceTool', { essential: ['server', 'uri'] }),
};

/** Returns the form that a vocabulary's hooks get. */
export function getForm(tool: Tool, vocabulary: Vocabulary): ToolForm {
  return tool.forms[vocabulary] ?? tool.defaultForm;
}

/** Translates a path to another vocabulary: absolute, relative to the root, or as it was written. */
export function translatePath(
  file: string,
  from: Vocabulary,
  into: Vocabulary,
  context: ViewContext,
): string {
  if (isFixedPath(file)) return file;
  const ownBase = RULES[from].getPathBase(context);
  const base = RULES[into].getPathBase(context);
  return RULES[into].writePath({
    written: file,
    absolute: () => path.resolve(ownBase, file),
    base,
    isSameBase: base === ownBase,
  });
}

/** The names of one tool in each vocabulary; an empty list means its Claude name is used. */
type ToolNames = { readonly claude: string } & {
  readonly [Other in Exclude<Vocabulary, 'claude'>]: readonly string[];
};

/** Lists the names of one tool in all vocabularies, Claude's first. */
export function listNames(names: ToolNames): readonly string[] {
  return VOCABULARIES.flatMap((vocabulary) => names[vocabulary]);
}

/** The tool that a call's name means, and its vocabulary. */
export interface CalledTool {
  readonly tool: Tool;
  /** Null for a plural name that belongs to no vocabulary and is split in parts in each. */
  readonly vocabulary: Vocabulary | null;
  readonly form: ToolForm;
}

export const MULTI_EDIT = 'MultiEdit';

/** Every tool that has more than one form, and Claude's tools that have only theirs. */
export const TOOL_NAMES: readonly ToolNames[] = [
  ...Object.values(TOOLS).map(describeToolNames),
  { claude: MULTI_EDIT, classic: [REPLACE_IN_FILE], sdk: [EDITOR] },
  { claude: 'TaskCreate', classic: [], sdk: [] },
  { claude: 'TaskUpdate', classic: [], sdk: [] },
  { claude: 'ToolSearch', classic: [], sdk: [] },
  { claude: 'ExitPlanMode', classic: [], sdk: [] },
  { claude: 'ListMcpResourcesTool', classic: [], sdk: [] },
  { claude: 'mcp__<server>__<tool>', classic: [USE_MCP_TOOL], sdk: ['<server>__<tool>'] },
];

/** Lists every name of a tool in one vocabulary, former ones too; names of MCP tools are unlimited. */
export function listNamesIn(vocabulary: Vocabulary): readonly string[] {
  const names = TOOL_NAMES.flatMap((row) => row[vocabulary]).filter((name) => !name.includes('<'));
  const former = Object.values(RULES[vocabulary].formerNames).flat();
  return [...new Set([...names, ...former])];
}

/** Every name of a tool that changes files, in all vocabularies. */
export const CHANGE_NAMES: ReadonlySet<string> = new Set([
  ...listNames(describeToolNames(TOOLS.Write)),
  ...listNames(describeToolNames(TOOLS.Edit)),
  ...listNames(describeToolNames(TOOLS.NotebookEdit)),
  MULTI_EDIT,
]);

const CALLED = new Map<string, CalledTool>([
  ...Object.values(TOOLS).flatMap(listCalledNames),
  ...listChangeNames(),
]);

/** Finds the tool of a call; null when its name has no other form. */
export function findCalledTool(call: ToolCall): CalledTool | null {
  return CALLED.get(call.name) ?? findCalledMcp(call);
}

/** Whether a name always means the same tool; names of MCP tools are unlimited, so they do not count. */
export function isCatalogued(name: string): boolean {
  return CALLED.has(name);
}

/** Finds the vocabulary that a name belongs to; null for a plugin's tool. */
export function findVocabulary(name: string): Vocabulary | null {
  if (name === USE_MCP_TOOL) return 'classic';
  if (name === MULTI_EDIT) return 'claude';
  return findCalledTool({ name, input: null })?.vocabulary ?? null;
}

/** Returns the vocabulary of a call's paths; a plural of no vocabulary is Claude's. */
export function getOwnVocabulary({ vocabulary }: CalledTool): Vocabulary {
  return vocabulary ?? 'claude';
}

/** Returns the key of the path in a call's own input, or null without one. */
export function getOwnPathKey(called: CalledTool): string | null {
  const { pathField } = called.tool;
  return pathField === undefined ? null : RULES[getOwnVocabulary(called)].getPathKey(pathField);
}

function findCalledMcp(call: ToolCall): CalledTool | null {
  for (const vocabulary of VOCABULARIES) {
    const target = RULES[vocabulary].readMcpTarget(call);
    if (target === null) continue;
    const tool = createMcpTool(target);
    return { tool, vocabulary, form: getForm(tool, vocabulary) };
  }
  return null;
}

function describeToolNames(tool: Tool): ToolNames {
  const listNamesIn = (vocabulary: Vocabulary): readonly string[] => {
    const name = tool.forms[vocabulary]?.name;
    const changeNames = tool.changesFile === true ? RULES[vocabulary].changeNames : [];
    return name === undefined ? [] : [name, ...changeNames];
  };
  return {
    claude: tool.defaultForm.name,
    classic: listNamesIn('classic'),
    sdk: listNamesIn('sdk'),
  };
}

function listCalledNames(tool: Tool): [string, CalledTool][] {
  return VOCABULARIES.flatMap((vocabulary) => {
    const form = tool.forms[vocabulary];
    if (form === null) return [];
    const called = { tool, vocabulary, form };
    const former = vocabulary === 'claude' ? tool.formerNames : [];
    return [form.name, ...former].map((name): [string, CalledTool] => [name, called]);
  });
}

/** Lists names that stand for several kinds of changes; the parts of such a call tell them apart. */
function listChangeNames(): [string, CalledTool][] {
  const edit = { tool: TOOLS.Edit, form: TOOLS.Edit.defaultForm };
  const names: Readonly<Record<Vocabulary, readonly string[]>> = {
    claude: [],
    classic: [REPLACE_IN_FILE],
    sdk: [EDITOR, APPLY_PATCH],
  };
  const called = VOCABULARIES.flatMap((vocabulary) =>
    names[vocabulary].map((name): [string, CalledTool] => [name, { ...edit, vocabulary }]),
  );
  return [...called, [MULTI_EDIT, { ...edit, vocabulary: null }]];
}
