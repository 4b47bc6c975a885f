import {
  createLogParts,
  formatScript,
  isGuardEvent,
  type JavascriptParts,
} from '../../templates.ts';
import { CLAUDE_EXAMPLES, type ClaudeExampleEvent, renderClaudeHeader } from './examples.ts';
import { REASONS } from './example.ts';

export function renderClaudeNodeHook(event: ClaudeExampleEvent): string {
  const { uses, body } = renderParts(event);
  return [
    '#!/usr/bin/env node\n',
    renderClaudeHeader(event, '//'),
    '\n',
    renderLoading(event, uses, ''),
    '\nconst input = JSON.parse(await text(process.stdin));\n',
    body,
  ].join('');
}

export function renderClaudeTypescriptHook(event: ClaudeExampleEvent): string {
  const { uses, payload, body } = renderParts(event);
  return [
    renderClaudeHeader(event, '//'),
    '\n',
    renderLoading(event, uses, ': Error'),
    payload === '' ? '\n' : `\ninterface Input {\n${payload}}\n\n`,
    `const input${payload === '' ? '' : ': Input'} = JSON.parse(await text(process.stdin));\n`,
    body,
  ].join('');
}

/** A static import that fails would end a guard before it can deny, so a guard imports dynamically. */
function renderLoading(
  event: ClaudeExampleEvent,
  uses: JavascriptParts['uses'],
  type: string,
): string {
  if (!isGuardEvent(event)) return renderImports(uses);
  const loads = listUses(uses).map(
    ([module, names]) => `const { ${names} } = await import('${module}');\n`,
  );
  return [GUARD_START.replace('EVENT', event).replace('TYPE', type), '\n', ...loads].join('');
}

const GUARD_START = formatScript`
// A guard that fails denies: with any exit code but 2 the action would go on. So load modules further
// below, with \`await import(...)\`.
process.on('uncaughtException', (errorTYPE) => {
  console.error(\`EVENT: this guard failed, so it denies: \${error.message}\`);
  process.exitCode = 2;
});
`;

function renderImports(uses: JavascriptParts['uses']): string {
  return listUses(uses)
    .map(([module, names]) => `import { ${names} } from '${module}';\n`)
    .join('');
}

function listUses(uses: JavascriptParts['uses']): [module: string, names: string][] {
  return Object.entries({ ...uses, 'node:stream/consumers': 'text' }).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
}

function renderParts(event: ClaudeExampleEvent): JavascriptParts {
  const { action } = CLAUDE_EXAMPLES[event];
  switch (action.kind) {
    case 'log': {
      const { field } = action;
      return createLogParts(LOG, event, `input.${field} ?? ''`, `${field}?: string`);
    }
    case 'context': {
      const body = CONTEXT.replace('TEXT', action.text).replace('EVENT', event);
      return { uses: {}, payload: '  hook_event_name: string;\n', body };
    }
    case 'print':
      return { uses: {}, payload: '', body: `console.log('${action.text}');\n` };
    case 'own':
      return OWN[event] ?? { uses: {}, payload: '', body: '' };
  }
}

const LOG = formatScript`
const what = WHAT;
const logs = join(homedir(), '.claude', 'hook-logs');
const line = \`\${new Date().toISOString()} EVENT \${JSON.stringify(what.slice(0, 200))}\n\`;

try {
  mkdirSync(logs, { recursive: true });
  appendFileSync(join(logs, 'events.log'), line);
} catch (error) {
  console.error(\`EVENT: nothing was logged: \${error}\`);
  process.exitCode = 1;
}
`;

const CONTEXT = formatScript`
const answer = {
  hookEventName: input.hook_event_name,
  additionalContext: 'TEXT',
};
console.log(JSON.stringify({ hookSpecificOutput: answer }));
`;

const OWN: Readonly<Partial<Record<ClaudeExampleEvent, JavascriptParts>>> = {
  PreToolUse: {
    uses: {},
    payload: '  tool_input?: { command?: string };\n',
    body: formatScript`
const command = input.tool_input?.command ?? '';

// An example, not a complete guard: rm with options, aimed at /, ~ or $HOME itself.
const dangerous = /\brm(\s+-\S+)+\s+"?(\/|~|\$HOME)\/?\*?([\s;&|)"]|$)/;

if (dangerous.test(command)) {
  const decision = {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason:
      'REASON',
  };
  console.log(JSON.stringify({ hookSpecificOutput: decision }));
}
`.replace('REASON', REASONS.deletes),
  },
  PermissionRequest: {
    uses: {},
    payload: formatScript`
  cwd: string;
  tool_name?: string;
  tool_input?: { file_path?: string };
`,
    body: formatScript`
const file = input.tool_input?.file_path ?? '';
const isInside = file.startsWith(input.cwd + '/') && !file.includes('/../');

if (input.tool_name === 'Read' && isInside) {
  const decision = { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } };
  console.log(JSON.stringify({ hookSpecificOutput: decision }));
}
`,
  },
  PostToolUse: {
    uses: {},
    payload: '  tool_name?: string;\n  duration_ms?: number;\n',
    body: formatScript`
const seconds = Math.round((input.duration_ms ?? 0) / 1000);

if ((input.duration_ms ?? 0) > 5000) {
  const additionalContext =
    \`\${input.tool_name} took \${seconds} s. Prefer something narrower next time.\`;
  const answer = { hookEventName: 'PostToolUse', additionalContext };
  console.log(JSON.stringify({ hookSpecificOutput: answer }));
}
`,
  },
  PostToolBatch: createLogParts(
    LOG,
    'PostToolBatch',
    "(input.tool_calls ?? []).map((call) => call.tool_name).join(', ')",
    'tool_calls?: { tool_name: string }[]',
  ),
  UserPromptSubmit: {
    uses: {},
    payload: '  prompt?: string;\n',
    body: formatScript`
const prompt = input.prompt ?? '';
const hasKey = /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(prompt);

if (prompt.trim() === '') {
  console.log(JSON.stringify({ decision: 'block', reason: 'EMPTY' }));
} else if (hasKey) {
  const reason = 'REASON';
  console.log(JSON.stringify({ decision: 'block', reason }));
}
`
      .replace('EMPTY', REASONS.empty)
      .replace('REASON', REASONS.key),
  },
  SessionStart: {
    uses: { 'node:fs': 'existsSync, readFileSync', 'node:path': 'join' },
    payload: '  cwd?: string;\n',
    body: formatScript`
const file = join(input.cwd ?? '.', '.git', 'HEAD');
const head = existsSync(file) ? readFileSync(file, 'utf8') : '';
const branch = /^ref: refs\/heads\/(.+)/.exec(head)?.[1];

console.log(\`Today is \${new Date().toDateString()}.\`);
if (branch) console.log(\`The git branch is \${branch}.\`);
`,
  },
  Stop: {
    uses: {},
    payload: '  last_assistant_message?: string;\n  stop_hook_active?: boolean;\n',
    body: formatScript`
const mentionsTodo = /\bTODO\b/.test(input.last_assistant_message ?? '');

if (mentionsTodo && !input.stop_hook_active) {
  const reason = 'REASON';
  console.log(JSON.stringify({ decision: 'block', reason }));
}
`.replace('REASON', REASONS.unfinished),
  },
  WorktreeCreate: {
    uses: { 'node:child_process': 'spawnSync', 'node:path': 'join' },
    payload: '  cwd: string;\n  name: string;\n',
    body: formatScript`
const name = input.name.replace(/[^A-Za-z0-9._-]/g, '-');
const place = join(input.cwd, '.claude', 'worktrees', name);

const command = ['-C', input.cwd, 'worktree', 'add', '--detach', place];
const { status } = spawnSync('git', command, { stdio: ['ignore', 2, 2] });
if (status === 0) console.log(place);
else process.exitCode = 1;
`,
  },
};
