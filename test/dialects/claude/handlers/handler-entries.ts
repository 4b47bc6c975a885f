import type {
  HttpEntry,
  Limited,
  McpToolEntry,
  PromptEntry,
  Source,
} from '../../../../src/dialects/claude/entry.ts';
import type { HttpTools } from '../../../../src/dialects/claude/handlers/http.ts';

const SOURCE: Source = {
  kind: 'user',
  label: 'user',
  file: '/home/me/.claude/settings.json',
  place: 'home',
  root: null,
  isCline: false,
  family: 'settings',
  plugin: null,
};

const FACTS = {
  event: 'PreToolUse',
  matcher: undefined,
  condition: undefined,
  timeoutMs: 30_000,
  statusMessage: null,
  once: false,
  onFailure: 'continue',
  source: SOURCE,
  line: 1,
  text: '{}',
  notes: [],
} as const;

export function httpEntry(wanted: Partial<Limited<HttpEntry>>): Limited<HttpEntry> {
  const url = 'http://127.0.0.1/';
  return { ...FACTS, type: 'http', url, headers: {}, allowedEnvVars: [], ...wanted };
}

export function mcpEntry(wanted: Partial<Limited<McpToolEntry>>): Limited<McpToolEntry> {
  return { ...FACTS, type: 'mcp_tool', server: 'files', tool: 'check', input: {}, ...wanted };
}

export function promptEntry(wanted: Partial<Limited<PromptEntry>>): Limited<PromptEntry> {
  const prompt = 'Is it fine?';
  return { ...FACTS, type: 'prompt', prompt, model: null, continueOnBlock: false, ...wanted };
}

/** Other fields have harmless defaults. */
export const HTTP_TOOLS: HttpTools = {
  encode: ({ tool }) => JSON.stringify(tool),
  decode: (_input, text) => ({ decision: { context: text } }),
  rules: { allowedUrls: null, ownUrls: [], allowedEnvVars: null },
  env: {},
  allowPrivate: false,
};
