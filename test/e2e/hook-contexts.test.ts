import { describe, expect, it } from 'vitest';
import { ChatInTmux, hasTmux } from '../cli/chat/tmux.ts';
import { jsonOf, runHookline } from '../cli/hookline.ts';
import {
  answering,
  at,
  createTempWorkspace,
  type TempWorkspace,
  write,
} from '../cli/temp-workspace.ts';

type Kind = 'cline' | 'claude' | 'plugin';

const CLINE_DIRECTORIES = ['Documents/Cline/Hooks', '.cline/hooks'];

/** Personal hooks of these kinds, which answer an event with these contexts in this order. */
function createWorkspace(
  event: string,
  hooks: readonly (readonly [Kind, string])[],
): TempWorkspace {
  const workspace = createTempWorkspace();
  const textsOf = (kind: Kind): readonly string[] =>
    hooks.filter(([each]) => each === kind).map(([, text]) => text);
  for (const [index, contextModification] of textsOf('cline').entries()) {
    write(
      workspace.home,
      `${CLINE_DIRECTORIES[index]}/${event}`,
      answering({ contextModification }),
    );
  }
  const commands = textsOf('claude').map((additionalContext, index) => {
    const answer = { hookSpecificOutput: { hookEventName: event, additionalContext } };
    return write(workspace.home, `claude-${index}.sh`, answering(answer));
  });
  const entries = commands.map((command) => ({ type: 'command', command }));
  const settings = { hooks: { [event]: [{ hooks: entries }] } };
  write(workspace.home, '.claude/settings.json', JSON.stringify(settings));
  for (const [index, text] of textsOf('plugin').entries()) {
    const hook = `() => ({ appendContext: ${JSON.stringify(text)} })`;
    const plugin = `export default { name: 'p${index}', manifest: { capabilities: ['hooks'] }, hooks: { beforeTool: ${hook} } };\n`;
    write(workspace.home, `.cline/plugins/p${index}.mjs`, plugin);
  }
  return workspace;
}

const TURNS = [{ tools: [{ name: 'Glob', input: { pattern: '*' } }] }, { text: 'Done.' }];

async function runTurns(workspace: TempWorkspace): Promise<void> {
  const script = write(workspace.directory, 'turns.json', JSON.stringify(TURNS));
  await runHookline(['run', '--script', script, 'go'], at(workspace));
}

async function readTranscript(workspace: TempWorkspace): Promise<string> {
  return (await runHookline(['sessions', 'show', '--json'], at(workspace))).stdout;
}

describe('contexts of several hooks', () => {
  it.each([
    ['PreToolUse', ['cline', 'cline']],
    ['PreToolUse', ['claude', 'claude']],
    ['PreToolUse', ['cline', 'claude', 'plugin']],
    ['PreToolUse', ['plugin', 'plugin']],
    ['PostToolUse', ['cline', 'claude', 'claude']],
    ['UserPromptSubmit', ['cline', 'claude']],
  ] as const)('of %s reach the model with a blank line between them: %j', async (event, kinds) => {
    const hooks = kinds.map((kind, index) => [kind, `context ${index}`] as const);
    const workspace = createWorkspace(event, hooks);
    await runTurns(workspace);
    const joined = hooks.map(([, text]) => text).join(String.raw`\n\n`);
    expect(await readTranscript(workspace)).toContain(
      `hook additional context: ${joined}\\n(from `,
    );
  });

  it('have one blank line between them when they end or begin with line breaks', async () => {
    const workspace = createWorkspace('PreToolUse', [
      ['cline', 'one\n\n'],
      ['claude', '\n\n  two'],
    ]);
    await runTurns(workspace);
    expect(await readTranscript(workspace)).toContain(String.raw`one\n\n  two\n(from `);
  });

  it('are listed one by one by `hooks fire --json`', async () => {
    const workspace = createWorkspace('PreToolUse', [
      ['cline', 'one'],
      ['claude', 'two'],
    ]);
    const fired = await runHookline(['hooks', 'fire', 'PreToolUse', '--json'], at(workspace));
    expect(jsonOf(fired).context).toEqual([
      { hook: 'cline:global:PreToolUse', text: 'one' },
      { hook: 'claude:user:PreToolUse:claude-0.sh', text: 'two' },
    ]);
  });

  it.skipIf(!hasTmux)('reach the model of a chat in the same way', async () => {
    const workspace = createWorkspace('PreToolUse', [
      ['cline', 'one'],
      ['claude', 'two'],
    ]);
    const chat = new ChatInTmux(workspace, { turns: TURNS });
    await chat.shows('context');
    chat.say('go');
    await chat.shows('Done.');
    expect(await readTranscript(workspace)).toContain(String.raw`one\n\ntwo\n(from `);
  });
});
