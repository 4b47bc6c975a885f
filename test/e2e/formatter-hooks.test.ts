import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ScriptTurn } from '../../src/agent/models/scripted.ts';
import {
  GLOBAL_HOOKS,
  createTempWorkspace,
  type TempWorkspace,
  write,
} from '../cli/temp-workspace.ts';
import { DONE, errorOf, linesOf, runScript, storedLines, toolEnds } from './agent-run.ts';

const RUN = ['go', '--permission-mode', 'bypassPermissions', '--output', 'stream-json'];

/** Doubles the quotes of a file, as a formatter would. */
const FORMAT = `sed -i s/\\'/\\"/g`;

function userHooks({ home }: TempWorkspace, hooks: unknown): void {
  write(home, '.claude/settings.json', JSON.stringify({ hooks }));
}

function onEvent(event: string, command: string, more: object = {}): unknown {
  return { [event]: [{ hooks: [{ type: 'command', command, ...more }] }] };
}

function edit(file: string, before: string, after: string): ScriptTurn {
  const input = { file_path: file, old_string: before, new_string: after };
  return { tools: [{ name: 'Edit', input }] };
}

function textOf(workspace: TempWorkspace, file: string): string {
  return readFileSync(path.join(workspace.repo, file), 'utf8');
}

/** The reminders that the model read about changed files. */
async function run(workspace: TempWorkspace, turns: readonly ScriptTurn[]) {
  const result = await runScript(workspace, [...turns, DONE], RUN);
  const [start] = linesOf(result);
  const lines = storedLines(workspace, String(start?.['sessionId']));
  const texts = lines.flatMap(({ message }) =>
    Array.isArray(message?.content)
      ? message.content.map((block) => String(block.text))
      : String(message?.content),
  );
  const failures = toolEnds(result).filter(({ output }) => !isSuccess(output));
  return {
    errors: failures.map(errorOf),
    notes: texts.filter((text) => text.includes('A hook changed')),
  };
}

function isSuccess(output: unknown): boolean {
  return (
    typeof output === 'object' && output !== null && 'success' in output && output.success === true
  );
}

const WRITE: ScriptTurn = {
  tools: [{ name: 'Write', input: { file_path: 'a.js', content: "one = 'one'\ntwo = 'two'\n" } }],
};

describe('a hook that rewrites the file that the agent just wrote', () => {
  const note = (workspace: TempWorkspace, hook: string): string =>
    `<system-reminder>
A hook changed ${path.join(workspace.repo, 'a.js')} after you read or wrote it. This is intended: work with the file as it is now, you need not read it again in this run. What changed:
@@ -1,2 +1,2 @@
-one = 'one'
-two = 'two'
+one = "one"
+two = "two"
(from ${hook})
</system-reminder>`;

  it('lets the next edits work, and the model reads what changed', async () => {
    const workspace = createTempWorkspace();
    userHooks(workspace, onEvent('PostToolUse', `${FORMAT} a.js`));
    const { errors, notes } = await run(workspace, [
      WRITE,
      edit('a.js', '"two"', "'zwei'"),
      edit('a.js', '"zwei"', "'drei'"),
    ]);
    expect(errors).toEqual([]);
    expect(notes[0]).toBe(note(workspace, 'claude:user:PostToolUse:a.js'));
    expect(notes).toHaveLength(3);
    expect(textOf(workspace, 'a.js')).toBe('one = "one"\ntwo = "drei"\n');
  });

  it.each(['PostToolBatch', 'Stop'])('may be one of %s', async (event) => {
    const workspace = createTempWorkspace();
    const once = `test -e done || { ${FORMAT} a.js; touch done; printf '{"decision":"block","reason":"go on"}'; }`;
    userHooks(workspace, onEvent(event, event === 'Stop' ? once : `${FORMAT} a.js`));
    const turns = event === 'Stop' ? [WRITE, { text: 'End.' }] : [WRITE];
    const { errors, notes } = await run(workspace, [...turns, edit('a.js', '"two"', '"zwei"')]);
    expect(errors).toEqual([]);
    expect(notes[0]).toContain('+two = "two"');
  });

  it('may be a hook of Cline, and replace the file instead of writing to it', async () => {
    const workspace = createTempWorkspace();
    const script = `#!/bin/sh\ncat > /dev/null\nsed s/\\'/\\"/g a.js > b.js && mv b.js a.js\necho '{}'\n`;
    write(workspace.home, `${GLOBAL_HOOKS}/PostToolUse`, script);
    const { errors, notes } = await run(workspace, [WRITE, edit('a.js', '"two"', '"zwei"')]);
    expect(errors).toEqual([]);
    expect(notes).toEqual([note(workspace, 'cline:global:PostToolUse')]);
  });

  it('may change other files that the agent has read', async () => {
    const workspace = createTempWorkspace({ 'b.js': "b = 'b'\n" });
    userHooks(workspace, onEvent('PostToolUse', `test ! -e a.js || ${FORMAT} b.js`));
    const read = { tools: [{ name: 'Read', input: { file_path: 'b.js' } }] };
    const { errors, notes } = await run(workspace, [read, WRITE, edit('b.js', '"b"', '"c"')]);
    expect(errors).toEqual([]);
    expect(notes[0]).toContain('+b = "b"');
  });
});

describe('a hook of a sub-agent that rewrites a file that the main agent has read', () => {
  it.each(['SubagentStart', 'PreToolUse', 'PostToolUse', 'SubagentStop'])(
    'lets the main agent edit it, and its model reads what changed: %s',
    async (event) => {
      const workspace = createTempWorkspace({ 'a.js': "one = 'one'\n" });
      const entry = { type: 'command', command: `${FORMAT} a.js` };
      const matcher = event.startsWith('Subagent') ? '' : 'Bash';
      userHooks(workspace, { [event]: [{ matcher, hooks: [entry] }] });
      const { errors, notes } = await run(workspace, [
        { tools: [{ name: 'Read', input: { file_path: 'a.js' } }] },
        { tools: [{ name: 'Agent', input: { description: 'x', prompt: 'p' } }] },
        { tools: [{ name: 'Bash', input: { command: 'echo hi' } }] },
        { text: 'The sub-agent is done.' },
        edit('a.js', '"one"', '"two"'),
      ]);
      expect(errors).toEqual([]);
      expect(notes).toHaveLength(1);
      expect(notes[0]).toContain('+one = "one"');
    },
  );
});

describe('a hook that changes only line ends', () => {
  it('is described as that', async () => {
    const workspace = createTempWorkspace();
    userHooks(workspace, onEvent('PostToolUse', String.raw`sed -i 's/\r*$/\r/' a.js`));
    const { errors, notes } = await run(workspace, [WRITE, edit('a.js', "'two'", "'zwei'")]);
    expect(errors).toEqual([]);
    expect(notes[0]).toContain('Only its line ends or its encoding changed.');
  });
});

describe('a change by somebody else', () => {
  it('still asks for a new Read, although hooks ran', async () => {
    const workspace = createTempWorkspace({ 'a.js': "one = 'one'\n" });
    userHooks(workspace, onEvent('PostToolUse', 'true'));
    const { errors, notes } = await run(workspace, [
      { tools: [{ name: 'Read', input: { file_path: 'a.js' } }] },
      { tools: [{ name: 'Bash', input: { command: `${FORMAT} a.js` } }] },
      edit('a.js', '"one"', '"two"'),
    ]);
    expect(errors).toEqual([expect.stringMatching(/^File has been modified since it was read/)]);
    expect(notes).toEqual([]);
  });

  it('asks for it also when a hook changed the file afterwards', async () => {
    const workspace = createTempWorkspace({ 'a.js': "one = 'one'\n" });
    userHooks(workspace, onEvent('PostToolUse', `test ! -e done || ${FORMAT} a.js`));
    const { errors } = await run(workspace, [
      { tools: [{ name: 'Read', input: { file_path: 'a.js' } }] },
      { tools: [{ name: 'Bash', input: { command: `echo "two = 'two'" >> a.js; touch done` } }] },
      edit('a.js', '"one"', '"two"'),
    ]);
    expect(errors).toEqual([expect.stringMatching(/^File has been modified since it was read/)]);
  });
});
