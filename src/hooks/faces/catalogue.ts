import { isRecord, parseJson, type ParsedJson } from '../../base/json.ts';
import { expectedObject, plainFace, type Face, type Tool } from './face.ts';
import { rawText, type Fields } from './fields.ts';
import { EDIT, NOTEBOOK_EDIT, READ, WRITE } from './file-tools.ts';
import {
  AGENT,
  ASK_USER_QUESTION,
  BASH,
  GLOB,
  GREP,
  SKILL,
  TODO_WRITE,
  WEB_FETCH,
  WEB_SEARCH,
} from './other-tools.ts';
import type { ToolCall, Vocabulary } from './tool-call.ts';

/** The names of one tool in each vocabulary; an empty list means its Claude name is used. */
export interface ToolNames {
  readonly claude: string;
  readonly classic: readonly string[];
  readonly sdk: readonly string[];
}

/** Where a call's name belongs. */
export interface CalledTool {
  readonly tool: Tool;
  /** Null when the name is a plural of no vocabulary, shown in parts everywhere. */
  readonly vocabulary: Vocabulary | null;
  readonly face: Face;
}

interface McpTarget {
  readonly server: string;
  readonly tool: string;
}

const TOOLS: readonly Tool[] = [
  READ,
  WRITE,
  EDIT,
  BASH,
  GREP,
  GLOB,
  WEB_FETCH,
  WEB_SEARCH,
  AGENT,
  TODO_WRITE,
  ASK_USER_QUESTION,
  SKILL,
  NOTEBOOK_EDIT,
];

export const USE_MCP_TOOL = 'use_mcp_tool';
const CLAUDE_PREFIX = 'mcp__';
const QUALIFIED = /^([^_].*?)__(.+)$/;

export const EDITOR = 'editor';
export const APPLY_PATCH = 'apply_patch';
export const MULTI_EDIT = 'MultiEdit';

/** Every tool that has more than one face, and Claude's tools that have only theirs. */
export const TOOL_NAMES: readonly ToolNames[] = [
  ...TOOLS.map(namesOfTool),
  { claude: MULTI_EDIT, classic: ['replace_in_file'], sdk: [EDITOR] },
  { claude: 'TaskCreate', classic: [], sdk: [] },
  { claude: 'TaskUpdate', classic: [], sdk: [] },
  { claude: 'ToolSearch', classic: [], sdk: [] },
  { claude: 'ExitPlanMode', classic: [], sdk: [] },
  { claude: 'ListMcpResourcesTool', classic: [], sdk: [] },
  { claude: 'ReadMcpResourceTool', classic: [], sdk: [] },
  { claude: 'mcp__<server>__<tool>', classic: [USE_MCP_TOOL], sdk: ['<server>__<tool>'] },
];

const CALLED = new Map<string, CalledTool>(calledTools());

/** The tool that a call means, or null when its name has no other face. */
export function findCalledTool(call: ToolCall): CalledTool | null {
  return CALLED.get(call.name) ?? findCalledMcp(call);
}

/** Whether a name always means the same tool: those of servers are as many as anybody likes. */
export function isCatalogued(name: string): boolean {
  return CALLED.has(name);
}

/** The face that a vocabulary's hooks see; a tool that it lacks keeps its Claude name. */
export function faceOf(tool: Tool, vocabulary: Vocabulary): Face {
  return tool[vocabulary] ?? tool.claude;
}

/** The vocabulary that a name belongs to, or null for a plugin's tool. */
export function vocabularyOfName(name: string): Vocabulary | null {
  if (name === USE_MCP_TOOL) return 'classic';
  if (name === MULTI_EDIT) return 'claude';
  return findCalledTool({ name, input: null })?.vocabulary ?? null;
}

/** The words in which a call says its paths; a plural of no vocabulary is Claude's. */
export function ownVocabulary({ vocabulary }: CalledTool): Vocabulary {
  return vocabulary ?? 'claude';
}

/** The key under which a call in its own words says its path, or null when there is none. */
export function ownPathKey({ tool, vocabulary }: CalledTool): string | null {
  if (tool.pathField === undefined || vocabulary === 'sdk') return null;
  return vocabulary === 'classic' ? 'path' : tool.pathField;
}

function findCalledMcp(call: ToolCall): CalledTool | null {
  const target = findMcpTarget(call);
  if (target === null) return null;
  const tool = mcpTool(target);
  const vocabulary = vocabularyOfMcpName(call.name);
  return { tool, vocabulary, face: faceOf(tool, vocabulary) };
}

function vocabularyOfMcpName(name: string): Vocabulary {
  if (name === USE_MCP_TOOL) return 'classic';
  return isClaudeMcpName(name) ? 'claude' : 'sdk';
}

function namesOfTool(tool: Tool): ToolNames {
  const sdk = tool.sdk === null ? [] : [tool.sdk.name];
  return {
    claude: tool.claude.name,
    classic: tool.classic === null ? [] : [tool.classic.name],
    sdk: tool.changesFile === true ? [...sdk, APPLY_PATCH] : sdk,
  };
}

function calledTools(): [string, CalledTool][] {
  const entries = TOOLS.flatMap((tool) => [
    ...calledIn(tool, 'claude'),
    ...calledIn(tool, 'classic'),
    ...calledIn(tool, 'sdk'),
  ]);
  const edit = { tool: EDIT, face: EDIT.claude };
  return [
    ...entries.filter(([name]) => name !== 'replace_in_file' && name !== EDITOR),
    ['replace_in_file', { ...edit, vocabulary: 'classic' }],
    [EDITOR, { ...edit, vocabulary: 'sdk' }],
    [APPLY_PATCH, { ...edit, vocabulary: 'sdk' }],
    [MULTI_EDIT, { ...edit, vocabulary: null }],
  ];
}

function calledIn(tool: Tool, vocabulary: Vocabulary): [string, CalledTool][] {
  const face = tool[vocabulary];
  if (face === null) return [];
  const entry: CalledTool = { tool, vocabulary, face };
  const former = vocabulary === 'claude' ? tool.formerName : undefined;
  return former === undefined
    ? [[face.name, entry]]
    : [
        [face.name, entry],
        [former, entry],
      ];
}

/** The server and tool that a call names in any vocabulary, or null when it is no MCP call. */
function findMcpTarget({ name, input }: ToolCall): McpTarget | null {
  if (name === USE_MCP_TOOL) return targetIn(input);
  if (!name.includes('__')) return null;
  const qualified = name.startsWith(CLAUDE_PREFIX) ? name.slice(CLAUDE_PREFIX.length) : name;
  const [, server, tool] = QUALIFIED.exec(qualified) ?? [];
  return server === undefined || tool === undefined ? null : { server, tool };
}

function isClaudeMcpName(name: string): boolean {
  return name.startsWith(CLAUDE_PREFIX);
}

function mcpTool(target: McpTarget): Tool {
  return {
    claude: plainFace(`${CLAUDE_PREFIX}${target.server}__${target.tool}`, []),
    classic: useMcpToolFace(target),
    sdk: plainFace(`${target.server}__${target.tool}`, []),
    essential: [],
  };
}

function targetIn(input: unknown): McpTarget | null {
  if (!isRecord(input)) return null;
  const { server_name: server, tool_name: tool } = input;
  return typeof server === 'string' && typeof tool === 'string' ? { server, tool } : null;
}

function useMcpToolFace({ server, tool }: McpTarget): Face {
  return {
    name: USE_MCP_TOOL,
    keys: ['server_name', 'tool_name', 'arguments'],
    constants: {},
    list: null,
    show: (fields) => ({ server_name: server, tool_name: tool, arguments: rawText(fields) }),
    read: (given) => {
      const named = targetIn(given);
      if (!isRecord(given) || named === null) return 'expected "server_name" and "tool_name"';
      if (named.server !== server || named.tool !== tool) {
        return `a rewrite cannot turn ${server}/${tool} into ${named.server}/${named.tool}`;
      }
      return argumentsIn(given['arguments']);
    },
  };
}

function argumentsIn(given: unknown): Fields | string {
  if (given === undefined || given === '') return {};
  const parsed: ParsedJson =
    typeof given === 'string' ? parseJson(given) : { ok: true, value: given };
  if (!parsed.ok) return `"arguments" is not JSON: ${parsed.error}`;
  return isRecord(parsed.value) ? parsed.value : `"arguments": ${expectedObject(parsed.value)}`;
}
