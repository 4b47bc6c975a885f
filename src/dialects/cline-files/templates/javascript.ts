import { renderClineHeader, type ExampleEvent } from './examples.ts';
import {
  createLogParts,
  formatScript,
  isGuardEvent,
  type JavascriptParts,
} from '../../templates.ts';

/**
 * Renders an extensionless file, which works as an ES module and as CommonJS, because the nearest
 * package.json decides.
 */
export function renderNodeHook(event: ExampleEvent): string {
  const { uses, body } = PARTS[event];
  return [
    '#!/usr/bin/env node\n',
    renderClineHeader(event, '//'),
    isGuardEvent(event) ? renderGuardStart(event, '') : '',
    NODE_START,
    renderImports(uses, (names, module) => `  const { ${names} } = await import('${module}');`),
    Object.keys(uses).length === 0 ? '' : '\n',
    body,
    '}\n',
  ].join('');
}

export function renderTypescriptHook(event: ExampleEvent): string {
  const { uses, payload, body } = PARTS[event];
  const isGuard = isGuardEvent(event);
  return [
    renderClineHeader(event, '//'),
    isGuard ? renderGuardStart(event, ': Error') : '\n',
    renderImports(uses, (names, module) => `import { ${names} } from '${module}';`),
    isGuard ? '' : "import { text } from 'node:stream/consumers';\n",
    `\ninterface Input {\n${payload}}\n`,
    isGuard ? TYPESCRIPT_START.replace(START_OF_RUN, LOADING_RUN) : TYPESCRIPT_START,
    body,
    '}\n',
    isGuard ? '\nexport {};\n' : '',
  ].join('');
}

/** A static import that fails would end the program before this is set. */
const GUARD_START = `
// A guard that fails refuses: without an answer the action would go on. So load modules further below,
// with \`await import(...)\`.
process.on('uncaughtException', (errorTYPE) => {
  const errorMessage = \`EVENT: this guard failed, so it refuses: \${error.message}\`;
  console.log(JSON.stringify({ cancel: true, errorMessage }));
});
`;

function renderGuardStart(event: ExampleEvent, type: string): string {
  return GUARD_START.replace('EVENT', event).replace('TYPE', type);
}

const START_OF_RUN = '(async () => {\n';
const LOADING_RUN = `${START_OF_RUN}  const { text } = await import('node:stream/consumers');\n`;

const NODE_START = `
(async () => {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
  console.log(JSON.stringify(await decide(JSON.parse(text))));
})();

async function decide(input) {
`;

const TYPESCRIPT_START = `
interface Answer {
  cancel: boolean;
  errorMessage?: string;
  contextModification?: string;
}

(async () => {
  console.log(JSON.stringify(decide(JSON.parse(await text(process.stdin)))));
})();

function decide(input: Input): Answer {
`;

function renderImports(
  uses: JavascriptParts['uses'],
  write: (names: string, module: string) => string,
): string {
  return Object.entries(uses)
    .map(([module, names]) => `${write(names, module)}\n`)
    .join('');
}

const LOG = formatScript`
  const what = WHAT;
  const logs = join(homedir(), '.cline', 'hook-logs');
  try {
    mkdirSync(logs, { recursive: true });
    const line = \`\${new Date().toISOString()} EVENT \${JSON.stringify(what.slice(0, 200))}\`;
    appendFileSync(join(logs, 'events.log'), line + '\n');
  } catch (error) {
    console.error(\`EVENT: nothing was logged: \${error}\`);
  }
  return { cancel: false };
`;

const PARTS: Readonly<Record<ExampleEvent, JavascriptParts>> = {
  TaskStart: {
    uses: { 'node:fs': 'existsSync, readFileSync', 'node:path': 'join' },
    payload: '  workspaceRoots?: string[];\n',
    body: formatScript`
  const git = join(input.workspaceRoots?.[0] ?? '.', '.git');
  const file = join(git, 'HEAD');
  const head = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const branch = /^ref: refs\/heads\/(.+)/.exec(head)?.[1];

  const today = \`Today is \${new Date().toDateString()}.\`;
  const note = branch ? \`\${today} The git branch is \${branch}.\` : today;
  return { cancel: false, contextModification: note };
`,
  },
  TaskResume: {
    uses: {},
    payload: '  taskResume: { previousState?: { lastMessageTs?: string } };\n',
    body: formatScript`
  const last = Number(input.taskResume.previousState?.lastMessageTs ?? 0);
  const days = Math.floor((Date.now() - last) / 86_400_000);

  if (!(last > 0 && days >= 1)) return { cancel: false };
  return {
    cancel: false,
    contextModification: \`This task has been idle for \${days} day(s): check what has changed since.\`,
  };
`,
  },
  TaskCancel: createLogParts(
    LOG,
    'TaskCancel',
    "input.taskCancel.taskMetadata?.completionStatus ?? ''",
    'taskCancel: { taskMetadata?: { completionStatus?: string } }',
  ),
  TaskComplete: createLogParts(
    LOG,
    'TaskComplete',
    "input.taskComplete.taskMetadata?.result ?? ''",
    'taskComplete: { taskMetadata?: { result?: string } }',
  ),
  TaskError: createLogParts(
    LOG,
    'TaskError',
    "input.error?.message ?? ''",
    'error?: { name: string; message: string } | null',
  ),
  PreToolUse: {
    uses: {},
    payload: formatScript`
  preToolUse: { toolName: string; parameters?: { command?: string; commands?: string } };
`,
    body: formatScript`
  const { parameters } = input.preToolUse;
  const command = parameters?.command ?? parameters?.commands ?? '';

  // An example, not a complete guard: rm with options, aimed at /, ~ or $HOME itself.
  const dangerous = /\brm(\s+-\S+)+\s+"?(\/|~|\$HOME)\/?\*?([\s;&|)"]|$)/;

  if (!dangerous.test(command)) return { cancel: false };
  return {
    cancel: true,
    errorMessage: 'This command would delete far too much. Name the directory that is meant.',
  };
`,
  },
  PostToolUse: {
    uses: {},
    payload: '  postToolUse: { toolName: string; executionTimeMs?: number };\n',
    body: formatScript`
  const { toolName, executionTimeMs = 0 } = input.postToolUse;

  if (executionTimeMs <= 5000) return { cancel: false };
  const seconds = Math.round(executionTimeMs / 1000);
  return {
    cancel: false,
    contextModification: \`\${toolName} took \${seconds} s. Prefer something narrower next time.\`,
  };
`,
  },
  UserPromptSubmit: {
    uses: {},
    payload: '  userPromptSubmit: { prompt: string };\n',
    body: formatScript`
  const { prompt } = input.userPromptSubmit;

  if (prompt.trim() === '') return { cancel: true, errorMessage: 'The prompt is empty.' };
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(prompt)) return { cancel: false };
  return {
    cancel: true,
    errorMessage: 'The prompt contains a private key. Remove it, and treat the key as leaked.',
  };
`,
  },
  Notification: createLogParts(
    LOG,
    'Notification',
    "input.notification.message ?? ''",
    'notification: { message?: string }',
  ),
  PreCompact: {
    uses: {},
    payload: '  preCompact: { contextSize?: number };\n',
    body: formatScript`
  const size = input.preCompact.contextSize ?? 0;
  return {
    cancel: false,
    contextModification:
      \`Keep from these \${size} messages: the open questions, and every file that was changed.\`,
  };
`,
  },
  SessionShutdown: createLogParts(LOG, 'SessionShutdown', "input.reason ?? ''", 'reason?: string'),
};
