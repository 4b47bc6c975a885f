import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { jsonOf, runHookline } from './hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, trust, write } from './temp-workspace.ts';

const FIRE = ['hooks', 'fire', 'PreToolUse', '--tool', 'Bash', '--input', '{"command":"true"}'];
const RUN = ['run', '--script', '../turns.json', '--allow', 'Bash', 'go'];
const TURNS = '[{"tools":[{"name":"Bash","input":{"command":"true"}}]},{"text":"Done."}]';

type Place = 'file' | 'settings' | '.cline' | 'http' | 'async' | 'plugin';

/** A workspace with one hook that answers a tool call with this text, or ends with this code. */
async function createWorkspace(
  place: Place,
  { text = '', exit = 0 }: { readonly text?: string; readonly exit?: number },
): Promise<TempWorkspace> {
  const workspace = createTempWorkspace();
  write(workspace.directory, 'turns.json', TURNS);
  const script = `#!/bin/sh\ncat > /dev/null\nprintf '%s' '${text}'\nexit ${exit}\n`;
  const writeEntry = (file: string, entry: object): void => {
    const hooks = { PreToolUse: [{ hooks: [entry] }] };
    write(workspace.home, file, JSON.stringify({ hooks }));
  };
  if (place === 'file') write(workspace.home, '.cline/hooks/PreToolUse', script);
  else if (place === 'plugin') {
    const hooks = `{ beforeTool: () => { if (${exit}) throw new Error('boom'); return ${text || 'null'}; } }`;
    const plugin = `{ name: 'g', manifest: { capabilities: ['hooks'] }, hooks: ${hooks} }`;
    write(workspace.repo, '.cline/plugins/g.ts', `export default ${plugin};`);
    trust(workspace);
  } else if (place === 'http') {
    writeEntry('.claude/settings.json', { type: 'http', url: await serve(text, exit) });
  } else {
    const command = write(workspace.home, 'hook.sh', script);
    const file = place === '.cline' ? '.cline/hooks.json' : '.claude/settings.json';
    writeEntry(file, { type: 'command', command, ...(place === 'async' ? { async: true } : {}) });
  }
  return workspace;
}

async function serve(text: string, status: number): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(status === 0 ? 200 : status).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/hook`;
}

const specific = (fields: string): string =>
  `{"hookSpecificOutput": {"hookEventName": "PreToolUse", ${fields}}}`;

describe('a mistyped key of an answer', () => {
  it.each<[Place, string, string]>([
    ['file', '{"cancle": true}', '"cancel"'],
    ['file', '{"contextModifcation": "x", "cancel": false}', '"contextModification"'],
    ['file', '{"cancel": false, "errorMesage": "x"}', '"errorMessage"'],
    ['settings', '{"systemMesage": "x"}', 'systemMessage'],
    ['settings', '{"decison": "block"}', 'decision'],
    ['settings', specific('"permisionDecision": "deny"'), 'permissionDecision'],
    ['settings', specific('"additonalContext": "x"'), 'additionalContext'],
    ['settings', '{"hookSpecificOuput": {"permissionDecision": "ask"}}', 'hookSpecificOutput'],
    ['.cline', '{"aprove": false}', 'approve'],
    ['.cline', '{"approve": true, "modifedInput": {}}', 'modifiedInput'],
    ['http', '{"systemMesage": "x"}', 'systemMessage'],
    ['async', '{"systemMesage": "x"}', 'systemMessage'],
    ['plugin', '{ skipp: true, reason: "x" }', '"skip"'],
    ['plugin', '{ policy: { enabeld: false } }', '"policy.enabled"'],
    ['plugin', '{ apendContext: "x" }', '"appendContext"'],
  ])('of a hook in %s is a warning: %s', async (place, text, meant) => {
    const workspace = await createWorkspace(place, { text });
    const suggestion = `did you mean ${meant}?`;
    const fired = await runHookline(FIRE, at(workspace));
    expect(fired.stdout.split(suggestion)).toHaveLength(2);
    expect(fired.stderr).toBe('');
    const run = await runHookline(RUN, at(workspace));
    expect(run.stderr.split(suggestion)).toHaveLength(2);
    const [, ...streamed] = (
      await runHookline([...RUN, '--output', 'stream-json'], at(workspace))
    ).stdout.split('did you mean ');
    expect(streamed.length).toBeGreaterThan(0);
  });

  it('is among the warnings of its outcome, and in the trace', async () => {
    const workspace = await createWorkspace('file', { text: '{"cancle": true}' });
    const { outcomes } = jsonOf(await runHookline([...FIRE, '--json'], at(workspace)));
    expect(outcomes).toMatchObject([
      {
        status: 'decided',
        notes: [],
        warnings: ['unknown field "cancle", not read: did you mean "cancel"?'],
      },
    ]);
  });

  it('of the right kind is no warning', async () => {
    const workspace = await createWorkspace('file', { text: '{"cancel": false, "took_ms": 3}' });
    expect((await runHookline(FIRE, at(workspace))).stdout).not.toContain('warning');
  });
});

const CLAUDE = `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "why"}}`;
const ANSWERS: Readonly<Record<Place, string>> = {
  file: 'Exit with 0 and print one JSON object: {"cancel": true, "errorMessage": "why"} to refuse, {} to agree.',
  settings:
    'Exit with 0 to agree, or with 2 and a reason on stderr to refuse; any other exit code is a failure.',
  '.cline':
    'Exit with 0 to agree, or with 2 and a reason on stderr to refuse; any other exit code is a failure.',
  async:
    'Exit with 0 to agree, or with 2 and a reason on stderr to refuse; any other exit code is a failure.',
  http: `Answer with status 200 and an empty body, or with one JSON object such as ${CLAUDE}.`,
  plugin:
    'beforeTool returns nothing to agree, or { skip: true, reason: "why" } to refuse the call',
};

describe('a hook that fails', () => {
  it.each<[Place, number]>([
    ['file', 3],
    ['settings', 1],
    ['.cline', 1],
    ['async', 1],
    ['http', 500],
    ['plugin', 1],
  ])('in %s has a hint how to answer, in fire and run, once', async (place, exit) => {
    const workspace = await createWorkspace(place, { exit });
    for (const args of [FIRE, RUN]) {
      const { stdout, stderr } = await runHookline(args, at(workspace));
      expect(`${stdout}${stderr}`.split(ANSWERS[place])).toHaveLength(2);
    }
  });

  it('with output that cannot be read gets an example', async () => {
    const workspace = await createWorkspace('settings', { text: '{"decision": 7}' });
    const { outcomes } = jsonOf(await runHookline([...FIRE, '--json'], at(workspace)));
    expect(outcomes).toMatchObject([
      {
        failure: {
          kind: 'output',
          hint: `Exit with 0 and print nothing, or one JSON object and nothing else: ${CLAUDE}.`,
        },
      },
    ]);
  });

  it('of type prompt says what the model must answer, and where there is one', async () => {
    const workspace = createTempWorkspace();
    write(workspace.directory, 'turns.json', TURNS.replace('[', '[{"text": "yes, fine"}, '));
    const hooks = { PreToolUse: [{ hooks: [{ type: 'prompt', prompt: 'Is it fine?' }] }] };
    write(workspace.home, '.claude/settings.json', JSON.stringify({ hooks }));
    const fired = await runHookline(FIRE, at(workspace));
    expect(fired.stdout).toContain('Only sessions have a model: `hookline run`, `chat` and `acp`.');
  });

  it('and refuses is reported with its reason once, in fire and run', async () => {
    const workspace = await createWorkspace('settings', { text: '{"decision": "block"' });
    for (const args of [FIRE, RUN]) {
      const { stdout, stderr } = await runHookline(args, at(workspace));
      expect(`${stdout}${stderr}`.split('missing } at the end')).toHaveLength(2);
    }
  });
});

describe('a refusal names its hook in the text of a run', () => {
  const SCRIPT = '#!/bin/sh\ncat > /dev/null\n';

  it.each([
    ['PreToolUse', 'echo no >&2; exit 2', /^denied: Bash: [^]*no \(ID\)\n$/],
    ['UserPromptSubmit', 'echo no >&2; exit 2', /^refused \(ID\): [^]*no\n/],
    [
      'UserPromptSubmit',
      `echo '{"continue": false, "stopReason": "no"}'`,
      /^stopped by a hook \(ID\): no\n$/,
    ],
    [
      'PreToolUse',
      `echo '{"continue": false, "stopReason": "no"}'`,
      /^stopped by a hook \(ID\): no\n$/,
    ],
    [
      'PostToolUse',
      `echo '{"continue": false, "stopReason": "no"}'`,
      /^stopped by a hook \(ID\): no\n$/,
    ],
  ])('%s: %s', async (event, body, expected) => {
    const workspace = createTempWorkspace();
    write(workspace.directory, 'turns.json', TURNS);
    const command = write(workspace.home, 'hook.sh', `${SCRIPT}${body}\n`);
    const hooks = { [event]: [{ hooks: [{ type: 'command', command }] }] };
    write(workspace.home, '.claude/settings.json', JSON.stringify({ hooks }));
    const { stderr } = await runHookline(RUN, at(workspace));
    expect(stderr.replaceAll(`claude:user:${event}:hook.sh`, 'ID')).toMatch(expected);
  });
});
