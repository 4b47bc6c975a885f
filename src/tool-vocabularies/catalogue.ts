import { REPLACE_IN_FILE, USE_MCP_TOOL } from './classic.ts';
import type { ToolForm } from './tool-form.ts';
import { APPLY_PATCH, EDITOR } from './sdk.ts';
import { createMcpTool, getForm, RULES, type Tool, TOOLS } from './tools.ts';
import { type ToolCall, VOCABULARIES, type Vocabulary } from './vocabulary.ts';

/** The names of one tool in each vocabulary; an empty list means its Claude name is used. */
export type ToolNames = { readonly claude: string } & {
  readonly [Other in Exclude<Vocabulary, 'claude'>]: readonly string[];
};

/** Where a call's name belongs. */
export interface CalledTool {
  readonly tool: Tool;
  /** Null when the name is a plural of no vocabulary, shown in parts everywhere. */
  readonly vocabulary: Vocabulary | null;
  readonly form: ToolForm;
}

export const MULTI_EDIT = 'MultiEdit';

/** Every tool that has more than one form, and Claude's tools that have only theirs. */
export const TOOL_NAMES: readonly ToolNames[] = [
  ...Object.values(TOOLS).map(listToolNames),
  { claude: MULTI_EDIT, classic: [REPLACE_IN_FILE], sdk: [EDITOR] },
  { claude: 'TaskCreate', classic: [], sdk: [] },
  { claude: 'TaskUpdate', classic: [], sdk: [] },
  { claude: 'ToolSearch', classic: [], sdk: [] },
  { claude: 'ExitPlanMode', classic: [], sdk: [] },
  { claude: 'ListMcpResourcesTool', classic: [], sdk: [] },
  { claude: 'ReadMcpResourceTool', classic: [], sdk: [] },
  { claude: 'mcp__<server>__<tool>', classic: [USE_MCP_TOOL], sdk: ['<server>__<tool>'] },
];

const CALLED = new Map<string, CalledTool>([
  ...Object.values(TOOLS).flatMap(listCalledNames),
  ...listChangeNames(),
]);

/** The tool that a call means, or null when its name has no other form. */
export function findCalledTool(call: ToolCall): CalledTool | null {
  return CALLED.get(call.name) ?? findCalledMcp(call);
}

/** Whether a name always means the same tool: those of servers are as many as anybody likes. */
export function isCatalogued(name: string): boolean {
  return CALLED.has(name);
}

/** The vocabulary that a name belongs to, or null for a plugin's tool. */
export function findVocabulary(name: string): Vocabulary | null {
  if (name === USE_MCP_TOOL) return 'classic';
  if (name === MULTI_EDIT) return 'claude';
  return findCalledTool({ name, input: null })?.vocabulary ?? null;
}

/** The words in which a call says its paths; a plural of no vocabulary is Claude's. */
export function getOwnVocabulary({ vocabulary }: CalledTool): Vocabulary {
  return vocabulary ?? 'claude';
}

/** The key under which a call in its own words says its path, or null when there is none. */
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

function listToolNames(tool: Tool): ToolNames {
  const listNames = (vocabulary: Vocabulary): readonly string[] => {
    const name = tool.forms[vocabulary]?.name;
    const changeNames = tool.changesFile === true ? RULES[vocabulary].changeNames : [];
    return name === undefined ? [] : [name, ...changeNames];
  };
  return {
    claude: tool.defaultForm.name,
    classic: listNames('classic'),
    sdk: listNames('sdk'),
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

/** Names that stand for several kinds of changes; what such a call does shows in its parts. */
function listChangeNames(): [string, CalledTool][] {
  const edit = { tool: TOOLS.Edit, form: TOOLS.Edit.defaultForm };
  return [
    [REPLACE_IN_FILE, { ...edit, vocabulary: 'classic' }],
    [EDITOR, { ...edit, vocabulary: 'sdk' }],
    [APPLY_PATCH, { ...edit, vocabulary: 'sdk' }],
    [MULTI_EDIT, { ...edit, vocabulary: null }],
  ];
}
