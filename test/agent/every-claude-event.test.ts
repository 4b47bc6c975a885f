import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Person } from '../../src/agent/session-context.ts';
import { CLAUDE_EVENT_NAMES, type ClaudeEvent } from '../../src/dialects/claude/events.ts';
import { hasProgram } from '../cli/temp-workspace.ts';
import { exampleEntry } from '../mcp/servers.ts';
import { createAgentFixture, type AgentFixture } from './agent-fixture.ts';
import { calls } from './scripted-session.ts';

/** Those that no session of this host comes to; `hooks list` says so. */
const NEVER: readonly ClaudeEvent[] = ['PermissionDenied', 'TeammateIdle'];

const WILLING: Person = {
  approve: async () => ({ isAllowed: true }),
  answer: async () => null,
  elicit: async () => ({ action: 'accept', content: { username: 'bob' } }),
};

function createRepository(): AgentFixture {
  const fixture = createAgentFixture();
  rmSync(path.join(fixture.workspace, '.git'), { recursive: true });
  fixture.write('CLAUDE.md', 'Be kind.\n');
  fixture.write('.claude/commands/greet.md', 'Say hello.\n');
  fixture.write('further/place.txt', 'here\n');
  const git = (...args: readonly string[]): unknown =>
    execFileSync('git', args, { cwd: fixture.workspace, stdio: 'pipe' });
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '--quiet', '-m', 'first');
  return fixture;
}

const settings = (comment: string): string => {
  const entry = (event: ClaudeEvent) => ({
    ...(event === 'FileChanged' ? { matcher: 'watched.txt' } : {}),
    hooks: [{ type: 'command', command: `printf '%s\\n' "$(cat)" >> '$LOG'` }],
  });
  const hooks = Object.fromEntries(CLAUDE_EVENT_NAMES.map((event) => [event, [entry(event)]]));
  return JSON.stringify({ comment, hooks });
};

const SCRIPT = [
  calls(['Bash', { command: 'cd further && pwd' }]),
  calls(['Read', { file_path: 'nowhere.txt' }]),
  calls(['Agent', { description: 'look', prompt: 'look', subagent_type: 'general-purpose' }]),
  { text: 'Looked.' },
  calls(['TaskCreate', { subject: 'one', description: 'one' }]),
  calls(['TaskUpdate', { taskId: '1', status: 'completed' }]),
  calls(['mcp__srv__ask', {}]),
  { text: 'Done.' },
  { text: 'A summary.' },
  { failure: { class: 'overloaded' as const, retryable: false } },
];

it.skipIf(!hasProgram('git'))(
  'every event of the Claude format reaches its hook, except for two that are never fired here',
  async () => {
    const fixture = createRepository();
    const file = fixture.write('~/.claude/settings.json', settings('first'));
    fixture.write('~/.hookline/mcp.json', JSON.stringify({ mcpServers: { srv: exampleEntry() } }));
    const host = await fixture.open({
      model: { script: SCRIPT, model: 'first' },
      person: WILLING,
      setup: 'init',
      addDirectories: [fixture.home],
      watch: true,
    });
    const listFiredEvents = (): Set<string> => new Set(fixture.log().flatMap(eventNames));
    const { sessionId } = await host.start({ worktree: 'w1' });
    await host.mcpServers();
    await host.send(sessionId, '/greet');
    await host.session(sessionId).compact(null);
    await host.switchModel(sessionId, 'second');
    fixture.write('watched.txt', 'changed\n');
    await expect.poll(() => listFiredEvents().has('FileChanged')).toBe(true);
    fixture.write(`~/${path.relative(fixture.home, file)}`, settings('second'));
    await expect.poll(() => listFiredEvents().has('ConfigChange')).toBe(true);
    await host.send(sessionId, 'once more');
    await host.dispose();
    const expected = CLAUDE_EVENT_NAMES.filter((event) => !NEVER.includes(event));
    expect([...listFiredEvents()].toSorted()).toEqual(expected.toSorted());
  },
);

function eventNames(line: string): readonly string[] {
  return line === '' ? [] : [String(JSON.parse(line)['hook_event_name'])];
}
