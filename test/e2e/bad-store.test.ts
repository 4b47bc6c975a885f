import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hooklineProgram, jsonOf, runHookline } from '../cli/hookline.ts';
import {
  at,
  createTempWorkspace,
  GLOBAL_HOOKS,
  isRoot,
  NOBODY,
  type TempWorkspace,
  write,
} from '../cli/temp-workspace.ts';
import {
  bash,
  DONE,
  errorOf,
  runScript,
  readMessagesText,
  toolEnds,
  transcriptOf,
  writeTask,
} from './agent-run.ts';
import { flagsFor, startService } from './service.ts';

const BYPASS = ['--permission-mode', 'bypassPermissions'];

/** A session with one prompt, one call and an answer. */
async function oneSession(workspace: TempWorkspace): Promise<string> {
  const turns = [{ text: 'I echo.', tools: bash('echo hi').tools ?? [] }, { text: 'Echoed.' }];
  return jsonOf(await runScript(workspace, turns, ['first prompt', '--json'])).sessionId;
}

describe('a transcript that is broken', () => {
  async function resumed(workspace: TempWorkspace, id: string) {
    const service = await startService([{ text: 'Resumed.' }]);
    const args = ['run', 'go on', '--resume', id, ...flagsFor(service)];
    const result = await runHookline(args, at(workspace));
    expect(result).toMatchObject({ code: 0, stdout: 'Resumed.\n' });
    const { messages = [] } = service.requests()[0] ?? {};
    return {
      report: result.stderr,
      messages: messages.map(({ role, text }) => `${role}: ${text}`),
    };
  }

  const WHOLE = [
    'user: first prompt',
    'assistant: I echo.',
    'tool: hi',
    'assistant: Echoed.',
    'user: go on',
  ];

  it('by half a line at its end is resumed', async () => {
    const workspace = createTempWorkspace();
    const id = await oneSession(workspace);
    const file = transcriptOf(workspace, id);
    appendFileSync(file, '{"type":"user","message":{"role":"user","content":"hal');
    expect(await resumed(workspace, id)).toEqual({
      report: `warning: ${file}:5 is incomplete and was skipped\n`,
      messages: WHOLE,
    });
    const again = await resumed(workspace, id);
    expect(again.messages).toEqual([...WHOLE, 'assistant: Resumed.', 'user: go on']);
  });

  it('in its middle loses only that line', async () => {
    const workspace = createTempWorkspace();
    const id = await oneSession(workspace);
    const file = transcriptOf(workspace, id);
    const lines = readFileSync(file, 'utf8').split('\n');
    lines.splice(1, 0, 'garbage', '[1,2]', '\0\0\0', '{"type":"nonsense"}');
    writeFileSync(file, lines.join('\n'));
    const { report, messages } = await resumed(workspace, id);
    expect(messages).toEqual(WHOLE);
    expect(report).toContain(`warning: ${file}:2 `);
  });

  it('where a result is missing gets one, and a result without a call is left out', async () => {
    const workspace = createTempWorkspace();
    const id = await oneSession(workspace);
    const file = transcriptOf(workspace, id);
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    writeFileSync(file, [lines[0], lines[1], lines[3], ''].join('\n'));
    expect((await resumed(workspace, id)).messages).toEqual([
      'user: first prompt',
      'assistant: I echo.',
      'tool: No result: the call was interrupted before it was done.',
      'assistant: Echoed.',
      'user: go on',
    ]);
    const other = await oneSession(workspace);
    writeFileSync(transcriptOf(workspace, other), [lines[0], lines[2], lines[3], ''].join('\n'));
    expect((await resumed(workspace, other)).messages).toEqual([
      'user: first prompt',
      'assistant: Echoed.',
      'user: go on',
    ]);
  });

  it('or empty, or gone, or without its record, still has its session', async () => {
    const workspace = createTempWorkspace();
    const [empty, gone, unrecorded] = [
      await oneSession(workspace),
      await oneSession(workspace),
      await oneSession(workspace),
    ];
    writeFileSync(transcriptOf(workspace, empty), '');
    expect((await resumed(workspace, empty)).messages).toEqual(['user: go on']);
    rmSync(transcriptOf(workspace, gone));
    const resumedSession = await resumed(workspace, gone);
    expect(resumedSession.messages).toEqual(['user: go on']);
    expect(resumedSession.report).toContain(`${gone}.jsonl is missing`);
    writeFileSync(
      path.join(path.dirname(transcriptOf(workspace, unrecorded)), 'session.json'),
      '{',
    );
    const guessed = await resumed(workspace, unrecorded);
    expect(guessed.messages).toEqual(WHOLE);
    expect(guessed.report).toContain('session.json');
  });
});

describe('a store that cannot be written', () => {
  it('because its path is a file is reported before anything is done', async () => {
    const workspace = createTempWorkspace();
    const env = { HOOKLINE_HOME: write(workspace.directory, 'file', 'x') };
    const result = await runScript(workspace, [bash('touch made'), DONE], ['go', ...BYPASS], {
      env,
    });
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(
      /hookline: the session cannot be stored in .*: (?:ENOTDIR|EEXIST).*\n {2}Free space and check the permissions there, or set another directory in HOOKLINE_HOME\.\n$/,
    );
    expect(existsSync(path.join(workspace.repo, 'made'))).toBe(false);
  });

  it('in the middle of a run ends it with a sentence, and what was written stays', async () => {
    const workspace = createTempWorkspace();
    const moved = path.join(workspace.directory, 'moved.jsonl');
    write(
      workspace.home,
      `${GLOBAL_HOOKS}/PostToolUse`,
      `#!/bin/sh
cat > /dev/null
cd '${workspace.home}'/.hookline/sessions/*/ && name=$(echo *.jsonl) && mv "$name" '${moved}' && mkdir "$name"
echo '{}'
`,
    );
    const result = await runScript(workspace, [bash('echo hi'), DONE], ['go']);
    expect(result).toMatchObject({ code: 1, stdout: '' });
    expect(result.stderr).toMatch(/failed: the session cannot be stored in .*EISDIR/);
    rmSync(path.join(workspace.home, GLOBAL_HOOKS), { recursive: true });
    const [id = ''] = readdirSync(path.join(workspace.home, '.hookline/sessions'));
    const file = transcriptOf(workspace, id);
    rmSync(file, { recursive: true });
    writeFileSync(file, readFileSync(moved));
    expect(await runScript(workspace, [DONE], ['go on', '--resume', id])).toMatchObject({
      code: 0,
    });
    expect(readMessagesText(workspace, id)).toMatch(/go.*echo hi.*go on.*Done\./);
  });

  it('because the disk is full is reported, and goes on once there is room', async (context) => {
    const workspace = createTempWorkspace();
    const tiny = path.join(workspace.directory, 'tiny');
    mkdirSync(tiny);
    if (!mountTiny(tiny)) context.skip('needs root and the right to mount a tmpfs');
    // The command fills the disk beside the workspace.
    const env = { HOOKLINE_HOME: tiny, HOOKLINE_SANDBOX: 'off' };
    const id = jsonOf(await runScript(workspace, [DONE], ['first', '--json'], { env })).sessionId;
    const fill = `head -c 1000000 /dev/zero > '${workspace.directory}/tiny/fill'; seq 1 5000`;
    writeTask(workspace.repo, fill);
    const full = await runScript(
      workspace,
      [bash('node task.cjs'), DONE],
      ['second', '--resume', id, ...BYPASS],
      {
        env,
      },
    );
    expect(full).toMatchObject({ code: 1, stdout: '' });
    expect(full.stderr).toMatch(/failed: the session cannot be stored in .*ENOSPC/);
    const none = await runScript(workspace, [DONE], ['third'], { env });
    expect(none).toMatchObject({ code: 2, stdout: '' });
    expect(none.stderr).toMatch(
      /hookline: the session cannot be stored in .*ENOSPC.*\n {2}Free space/,
    );
    rmSync(path.join(tiny, 'fill'));
    const service = await startService([{ text: 'Resumed.' }]);
    const args = ['run', 'go on', '--resume', id, ...flagsFor(service)];
    expect(await runHookline(args, at(workspace, { env }))).toMatchObject({
      code: 0,
      stdout: 'Resumed.\n',
    });
    expect(service.requests()[0]?.messages.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      'user: first',
      'assistant: Done.',
      'user: second',
      'assistant: ',
      'tool: No result: the call was interrupted before it was done.',
      'user: go on',
    ]);
  });
});

function mountTiny(directory: string): boolean {
  const options = ['-t', 'tmpfs', '-o', 'size=64k,mode=700', 'tmpfs', directory];
  if (spawnSync('mount', options).status !== 0) return false;
  onTestFinished(() => {
    spawnSync('umount', [directory]);
  });
  return true;
}

/** Another user can run the program only where the way to it is open to all. */
function canDropRights(): boolean {
  const look = `fs.accessSync(${JSON.stringify(hooklineProgram())})`;
  const options = { uid: NOBODY, gid: NOBODY, cwd: '/' };
  return isRoot && spawnSync(process.execPath, ['-e', look], options).status === 0;
}

describe.skipIf(!canDropRights())(
  'as another user (skipped unless run as root in an open directory)',
  () => {
    function openPlace(files: Readonly<Record<string, string>> = {}): TempWorkspace {
      const workspace = createTempWorkspace(files);
      chmodSync(workspace.directory, 0o755);
      chownSync(workspace.home, NOBODY, NOBODY);
      return workspace;
    }

    it('what may not be read or written is an error for the model', async () => {
      const workspace = openPlace({ 'own.txt': 'own\n', 'shared.txt': 'shared\n' });
      chmodSync(path.join(workspace.repo, 'own.txt'), 0o600);
      const turns = [
        { tools: [{ name: 'Read', input: { file_path: 'own.txt' } }] },
        { tools: [{ name: 'Write', input: { file_path: 'new.txt', content: 'x' } }] },
        { tools: [{ name: 'Read', input: { file_path: 'shared.txt' } }] },
        {
          tools: [
            {
              name: 'Edit',
              input: { file_path: 'shared.txt', old_string: 'shared', new_string: 'x' },
            },
          ],
        },
        bash('cat own.txt'),
        DONE,
      ];
      const args = ['go', ...BYPASS, '--output', 'stream-json'];
      const result = await runScript(workspace, turns, args, { uid: NOBODY });
      expect(result.code).toBe(0);
      const [read, written, , edited, shown] = toolEnds(result).map(errorOf);
      expect(read).toMatch(/Cannot read .*own\.txt: .*(?:EACCES|permission)/i);
      expect(written).toMatch(/new\.txt.*(?:EACCES|permission)/i);
      expect(edited).toMatch(/shared\.txt.*(?:EACCES|permission)/i);
      expect(shown).toMatch(/Permission denied/);
      const again = await runScript(workspace, [DONE], ['on', '--continue'], { uid: NOBODY });
      expect(again).toMatchObject({ code: 0, stdout: 'Done.\n' });
    });

    it('a session of another user is not resumed, with the reason', async () => {
      const workspace = openPlace();
      chownSync(workspace.home, 0, 0);
      const id = await oneSession(workspace);
      for (const each of ['.hookline', '.hookline/sessions', `.hookline/sessions/${id}`]) {
        chmodSync(path.join(workspace.home, each), 0o755);
      }
      const result = await runScript(workspace, [DONE], ['on', '--resume', id], { uid: NOBODY });
      expect(result).toMatchObject({ code: 2, stdout: '' });
      expect(result.stderr).toMatch(/hookline: the session cannot be stored in .*EACCES/);
    });

    it('a home that cannot be written is reported before anything is done', async () => {
      const workspace = openPlace();
      chownSync(workspace.home, 0, 0);
      const result = await runScript(workspace, [DONE], ['go'], { uid: NOBODY });
      expect(result).toMatchObject({ code: 2, stdout: '' });
      expect(result.stderr).toMatch(/hookline: the session cannot be stored in .*EACCES/);
    });

    it('without any home the task is done, and nothing is stored', async () => {
      const workspace = openPlace();
      // No user has this id, so the system knows no home either.
      const nobody = { home: null, uid: 54_321 };
      const result = await runScript(workspace, [bash('echo hi'), DONE], ['go', '--json'], nobody);
      expect(jsonOf(result)).toMatchObject({ status: 'completed', text: 'Done.' });
      expect(result.stderr).toContain('no home directory');
      expect(await runScript(workspace, [DONE], ['go', '--continue'], nobody)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(`hookline: no session is stored for ${workspace.repo}`),
      });
    });
  },
);
