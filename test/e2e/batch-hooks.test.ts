import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, write } from '../cli/temp-workspace.ts';
import { exampleEntry } from '../mcp/servers.ts';
import { bash, DONE, runScript, type Script } from './agent-run.ts';
import { flagsFor, startService } from './service.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];

function userSettings({ home }: TempWorkspace, hooks: Readonly<Record<string, string>>): void {
  const entries = Object.entries(hooks).map(([event, command]) => [
    event,
    [{ hooks: [{ type: 'command', command }] }],
  ]);
  write(home, '.claude/settings.json', JSON.stringify({ hooks: Object.fromEntries(entries) }));
}

interface Payload {
  readonly hook_event_name: string;
  readonly tool_calls?: readonly Readonly<Record<string, unknown>>[];
}

/** The payloads of all hooks of a run with a scripted model. */
async function recordedIn(
  workspace: TempWorkspace,
  turns: Script,
  hooks: Readonly<Record<string, string>>,
): Promise<readonly Payload[]> {
  const log = path.join(workspace.directory, 'log');
  const record = `cat >> '${log}'; `;
  userSettings(
    workspace,
    Object.fromEntries(Object.entries(hooks).map(([event, then]) => [event, record + then])),
  );
  await runScript(workspace, turns, ['go', ...BYPASS]);
  return readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('PostToolBatch', () => {
  it('has blocks for MCP tools and agents, texts for others and for failures', async () => {
    const workspace = createTempWorkspace({ 'a.txt': 'a\n' });
    write(
      workspace.home,
      '.hookline/mcp.json',
      JSON.stringify({ mcpServers: { ours: exampleEntry() } }),
    );
    const task = { description: 'look', prompt: 'look', subagent_type: 'general-purpose' };
    const turns: Script = [
      { tools: [{ name: 'mcp__ours__echo', input: { text: 'hi' } }] },
      { tools: [{ name: 'Agent', input: task }] },
      { text: 'I looked.' },
      bash('echo hi'),
      bash('exit 3'),
      { tools: [{ name: 'Read', input: { file_path: 'nowhere.txt' } }] },
      DONE,
    ];
    const batches = await recordedIn(workspace, turns, { PostToolBatch: 'true' });
    const responses = batches.flatMap(({ tool_calls: calls = [] }) =>
      calls.map((call) => [call['tool_name'], call['tool_response']]),
    );
    expect(responses).toEqual([
      ['mcp__ours__echo', [{ type: 'text', text: 'echo: hi' }]],
      ['Agent', [{ type: 'text', text: 'I looked.' }]],
      ['Bash', 'hi'],
      ['Bash', expect.stringMatching(/^Exit code 3/)],
      ['Read', expect.stringContaining('does not exist')],
    ]);
  });

  it.each([
    ['PreToolUse', ['PreToolUse', 'PostToolUse']],
    ['PostToolUse', ['PreToolUse', 'PostToolUse']],
  ])('is not fired after a hook of %s ended the turn', async (event, expected) => {
    const stop = `printf '{"continue":false,"stopReason":"enough"}'`;
    const hooks = { PreToolUse: 'true', PostToolUse: 'true', PostToolBatch: 'true', Stop: 'true' };
    const turns = [bash('echo hi'), DONE];
    const recorded = await recordedIn(createTempWorkspace(), turns, { ...hooks, [event]: stop });
    expect(recorded.map((payload) => payload.hook_event_name)).toEqual(expected);
  });
});

describe('the context of PostToolUse', () => {
  it('follows the result of its own call, not those of the whole turn', async () => {
    const workspace = createTempWorkspace({ 'a.txt': 'text of a\n', 'b.txt': 'text of b\n' });
    const answer = `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"about %s"}}`;
    const name = `$(node -pe 'path.basename(JSON.parse(fs.readFileSync(0)).tool_input.file_path)')`;
    userSettings(workspace, { PostToolUse: `printf '${answer}' "${name}"` });
    const reads = ['a.txt', 'b.txt'].map((file) => ({ name: 'Read', input: { file_path: file } }));
    const service = await startService([{ tools: reads }, { text: 'Done.' }]);
    await runHookline(['run', 'go', ...BYPASS, ...flagsFor(service)], at(workspace));
    const sent = (service.requests()[1]?.messages ?? []).map(({ text }) => text).join('\n');
    const order = [...sent.matchAll(/text of \w|about \w/g)].map(([found]) => found);
    // Calls that only read run beside each other, so that either may be answered first.
    const pairs = [order.slice(0, 2), order.slice(2)].map((pair) => pair.join(', '));
    expect(pairs.toSorted()).toEqual(['text of a, about a', 'text of b, about b']);
  });
});
