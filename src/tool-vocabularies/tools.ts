import path from 'node:path';
import { AGENT_RULES } from './agents/index.ts';
import { CLAUDE } from './claude.ts';
import { CLASSIC, REPLACE_IN_FILE, USE_MCP_TOOL } from './classic.ts';
import type { ToolForm } from './tool-form.ts';
import type { Fields } from './fields.ts';
import { SDK, EDITOR } from './sdk.ts';
import {
  type AgentVocabulary,
  type ViewContext,
  isAgentVocabulary,
  isFixedPath,
  type McpTarget,
  type OwnVocabulary,
  type PluralForm,
  type ToolKind,
  type Vocabulary,
  type VocabularyRules,
  type ToolCall,
  VOCABULARIES,
} from './vocabulary.ts';

/** The table of our own vocabularies: a further one is a row here, and the compiler lists what else it needs. */
const OWN_RULES: Readonly<Record<OwnVocabulary, VocabularyRules>> = {
  claude: CLAUDE,
  classic: CLASSIC,
  sdk: SDK,
};

/** Returns the rules of a vocabulary. Those of other agents are loaded with the first call that needs them. */
export function getRules(vocabulary: Vocabulary): VocabularyRules {
  return isAgentVocabulary(vocabulary) ? AGENT_RULES[vocabulary] : OWN_RULES[vocabulary];
}

/** One tool of the agent in every vocabulary; null where a vocabulary knows no such tool. */
export interface Tool {
  /** Text fields without which a call is incomplete; the first is its subject. */
  readonly essential: readonly string[];
  readonly pathField?: string;
  /** What a missing path means. */
  readonly defaultPath?: string;
  readonly changesFile?: true;
  readonly forms: Readonly<Record<OwnVocabulary, ToolForm | null>>;
  /** Finds its form in the vocabulary of another agent. */
  readonly findForm: (rules: VocabularyRules) => ToolForm | null;
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
  facts: Omit<Tool, 'forms' | 'findForm' | 'defaultForm' | 'formerNames'>,
): Tool {
  const findForm = (rules: VocabularyRules): ToolForm | null => rules.forms[kind];
  const forms = mapVocabularies(findForm);
  const formerNames = Object.values(OWN_RULES).flatMap((rules) => rules.formerNames[kind] ?? []);
  return { ...facts, forms, findForm, formerNames, defaultForm: CLAUDE.forms[kind] };
}

/** Creates the tool of an MCP server: its fields are its arguments. */
function createMcpTool(target: McpTarget): Tool {
  const findForm = (rules: VocabularyRules): ToolForm => rules.createMcpForm(target);
  const forms = mapVocabularies(findForm);
  return { essential: [], forms, findForm, formerNames: [], defaultForm: forms.claude };
}

function mapVocabularies<Value>(
  convert: (rules: VocabularyRules) => Value,
): Readonly<Record<OwnVocabulary, Value>> {
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
  const form = isAgentVocabulary(vocabulary)
    ? tool.findForm(AGENT_RULES[vocabulary])
    : tool.forms[vocabulary];
  return form ?? tool.defaultForm;
}

/** Translates a path to another vocabulary: absolute, relative to the root, or as it was written. */
export function translatePath(
  file: string,
  from: Vocabulary,
  into: Vocabulary,
  context: ViewContext,
): string {
  if (isFixedPath(file)) return file;
  const ownBase = getRules(from).getPathBase(context);
  const base = getRules(into).getPathBase(context);
  return getRules(into).writePath({
    written: file,
    absolute: () => path.resolve(ownBase, file),
    base,
    isSameBase: base === ownBase,
  });
}

/** The names of one tool in each vocabulary; an empty list means its Claude name is used. */
type ToolNames = { readonly claude: string } & {
  readonly [Other in Exclude<OwnVocabulary, 'claude'>]: readonly string[];
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
  /** How its parts are written, where one call may be several in another way than by a list. */
  readonly plural?: PluralForm;
}

const MULTI_EDIT = 'MultiEdit';

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
export function listNamesIn(vocabulary: OwnVocabulary): readonly string[] {
  const names = TOOL_NAMES.flatMap((row) => row[vocabulary]).filter((name) => !name.includes('<'));
  const former = Object.values(OWN_RULES[vocabulary].formerNames).flat();
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
  const own = call.vocabulary === undefined ? null : findAgentTool(call, call.vocabulary);
  // A tool that is new in an agent, or that it has from Claude, is taken for ours of that name.
  return own ?? CALLED.get(call.name) ?? findCalledMcp(call);
}

/** Forms that a name may mean in the vocabulary of another agent, in the order in which they are tried. */
const agentForms = new Map<AgentVocabulary, ReadonlyMap<string, readonly CalledTool[]>>();

function findAgentTool(call: ToolCall, vocabulary: AgentVocabulary): CalledTool | null {
  const rules = AGENT_RULES[vocabulary];
  const byName = agentForms.get(vocabulary) ?? groupAgentForms(vocabulary, rules);
  agentForms.set(vocabulary, byName);
  const candidates = byName.get(call.name) ?? [];
  const chosen = candidates.find((each) => isComplete(each, call.input)) ?? candidates[0];
  if (chosen !== undefined) return chosen;
  const target = rules.readMcpTarget(call);
  if (target === null) return null;
  const tool = createMcpTool(target);
  return { tool, vocabulary, form: getForm(tool, vocabulary) };
}

function isComplete({ tool, form, plural }: CalledTool, input: unknown): boolean {
  if (plural !== undefined || form.list !== null) return true;
  const fields = form.read(input, {});
  return (
    typeof fields !== 'string' && tool.essential.every((key) => typeof fields[key] === 'string')
  );
}

function groupAgentForms(
  vocabulary: AgentVocabulary,
  { forms, otherForms = {}, pluralNames }: VocabularyRules,
): ReadonlyMap<string, readonly CalledTool[]> {
  const byName = new Map<string, CalledTool[]>();
  const add = (name: string, called: CalledTool): void => {
    byName.set(name, [...(byName.get(name) ?? []), called]);
  };
  for (const kind of listKinds()) {
    const own = forms[kind]?.isStandIn === true ? null : forms[kind];
    const all = [...(own === null ? [] : [own]), ...(otherForms[kind] ?? [])];
    for (const form of all) {
      if (pluralNames[form.name] === undefined) {
        add(form.name, { tool: TOOLS[kind], vocabulary, form });
      }
    }
  }
  for (const [name, plural] of Object.entries(pluralNames)) {
    add(name, { ...describePlural(plural), vocabulary });
  }
  return byName;
}

function describePlural(plural: PluralForm): Omit<CalledTool, 'vocabulary'> {
  const tool = plural === 'addresses' ? TOOLS.WebFetch : TOOLS.Edit;
  return { tool, form: tool.defaultForm, plural };
}

function listKinds(): readonly ToolKind[] {
  return Object.keys(TOOLS).filter((name): name is ToolKind => Object.hasOwn(TOOLS, name));
}

/** Whether a name always means the same tool; names of MCP tools are unlimited, so they do not count. */
export function isCatalogued(name: string): boolean {
  return CALLED.has(name);
}

/** Finds the vocabulary that a name belongs to; null for a plugin's tool. */
export function findVocabulary(name: string): OwnVocabulary | null {
  if (name === USE_MCP_TOOL) return 'classic';
  if (name === MULTI_EDIT) return 'claude';
  const vocabulary = findCalledTool({ name, input: null })?.vocabulary ?? null;
  return vocabulary === null || isAgentVocabulary(vocabulary) ? null : vocabulary;
}

/** Returns the vocabulary of a call's paths; a plural of no vocabulary is Claude's. */
export function getOwnVocabulary({ vocabulary }: CalledTool): Vocabulary {
  return vocabulary ?? 'claude';
}

/** Returns the key of the path in a call's own input, or null without one. */
export function getOwnPathKey(called: CalledTool): string | null {
  const { pathField } = called.tool;
  return pathField === undefined ? null : getRules(getOwnVocabulary(called)).getPathKey(pathField);
}

function findCalledMcp(call: ToolCall): CalledTool | null {
  for (const vocabulary of VOCABULARIES) {
    const target = OWN_RULES[vocabulary].readMcpTarget(call);
    if (target === null) continue;
    const tool = createMcpTool(target);
    return { tool, vocabulary, form: getForm(tool, vocabulary) };
  }
  return null;
}

function describeToolNames(tool: Tool): ToolNames {
  const listNamesIn = (vocabulary: OwnVocabulary): readonly string[] => {
    const name = tool.forms[vocabulary]?.name;
    const changeNames = tool.changesFile === true ? OWN_RULES[vocabulary].changeNames : [];
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
  const called = VOCABULARIES.flatMap((vocabulary) =>
    Object.entries(OWN_RULES[vocabulary].pluralNames).map(
      ([name, plural]): [string, CalledTool] => [name, { ...describePlural(plural), vocabulary }],
    ),
  );
  return [...called, [MULTI_EDIT, { ...describePlural('edits'), vocabulary: null }]];
}
