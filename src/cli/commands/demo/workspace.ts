import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const HOOKS: Readonly<Record<string, string>> = {
  'workspace/.clinerules/hooks/PreToolUse': readInput(`
  const { toolName, parameters } = input.preToolUse;
  const isScript = toolName === 'write_to_file' && parameters.path.endsWith('.js');
  const isPush = toolName === 'execute_command' && parameters.command.startsWith('git push');
  if (isPush) return { cancel: true, errorMessage: 'Pushing is left to people here' };
  return isScript
    ? { cancel: true, errorMessage: 'This project is written in TypeScript', contextModification: 'Use .ts files only.' }
    : { cancel: false };`),
  'workspace/.claude/settings.json': JSON.stringify({
    hooks: {
      PreToolUse: [
        {
          matcher: 'Bash',
          hooks: [
            {
              type: 'command',
              command: 'node',
              args: ['${CLAUDE_PROJECT_DIR}/.claude/hooks/no-force.js'],
            },
          ],
        },
      ],
    },
  }),
  'workspace/.claude/hooks/no-force.js': readInput(`
  const isForced = input.tool_input.command.includes('--force');
  return isForced ? { decision: 'block', reason: 'A push by force rewrites what others have' } : {};`),
  'workspace/.clinerules/hooks/PostToolUse': readInput(`
  const { executionTimeMs, parameters } = input.postToolUse;
  return executionTimeMs > 5000
    ? { cancel: false, contextModification: \`\${parameters.command} took \${executionTimeMs} ms.\` }
    : { cancel: false };`),
  'workspace/.clinerules/hooks/UserPromptSubmit':
    '#!/usr/bin/env node\nconsole.error("I have a bug");\nprocess.exit(1);\n',
  'home/Documents/Cline/Hooks/PreToolUse': readInput(`
  const isManifest = String(input.preToolUse.parameters.path).includes('package.json');
  return isManifest ? { cancel: true, errorMessage: 'package.json is off limits' } : { cancel: false };`),
};

/** A hook in Node, because that is the one language that is surely here. */
function readInput(body: string): string {
  return `#!/usr/bin/env node
function decide(input) {${body}
}
let text = '';
process.stdin.on('data', (chunk) => (text += chunk));
process.stdin.on('end', () => console.log(JSON.stringify(decide(JSON.parse(text)))));
`;
}

/** Writes a workspace and a home, both with hooks, into an empty directory. */
export function writeWorkspace(place: string): void {
  for (const [name, text] of Object.entries(HOOKS)) {
    const file = path.join(place, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, 0o755);
  }
}
