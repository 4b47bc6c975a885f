import { createServer } from 'node:http';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { environmentOf, hooklineProgram, resultOf, runHookline } from '../cli/hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, write } from '../cli/temp-workspace.ts';
import { spawn } from 'node:child_process';
import { bash, DONE, errorOf, runScript, scripted, toolEnds, writeTask } from './agent-run.ts';

const FREE = ['--permission-mode', 'bypassPermissions'];
const STREAM = [...FREE, '--output', 'stream-json'];
const USER = '.claude/settings.json';
const REFUSED = 'The network of the sandbox does not include';

function writeSettings(directory: string, sandbox: object, name = USER): void {
  write(directory, name, JSON.stringify({ sandbox }));
}

/** The output of a script that no rule can read. */
async function runTask(workspace: TempWorkspace, script: string, env = {}): Promise<string> {
  writeTask(workspace.repo, script);
  const turns = [bash('node task.cjs'), DONE];
  const result = await runScript(workspace, turns, ['go', ...STREAM], { env });
  return JSON.stringify(toolEnds(result)[0]);
}

describe('settings of Claude Code', () => {
  it('of the user and of the workspace hide files and keep them from being written', async () => {
    const workspace = createTempWorkspace({ 'a/x.key': 'TOKEN-A', kept: 'as it was' });
    write(workspace.home, 'private/deep', 'TOKEN-B');
    write(workspace.home, 'notes', 'NOTE-C');
    writeSettings(workspace.home, {
      filesystem: { denyRead: ['~/private'] },
      credentials: { envVars: [{ name: 'MY_TOKEN', mode: 'deny' }] },
    });
    writeSettings(workspace.repo, { filesystem: { denyRead: ['**/*.key'], denyWrite: ['kept'] } });
    const output = await runTask(
      workspace,
      'cat a/x.key ~/private/deep ~/notes; echo evil > kept; rm -f kept; echo $MY_TOKEN; echo fine > made',
      { MY_TOKEN: 'TOKEN-D' },
    );
    expect(output).toContain('NOTE-C');
    expect(output).not.toMatch(/TOKEN-[ABD]/);
    expect(readFileSync(path.join(workspace.repo, 'kept'), 'utf8')).toBe('as it was');
    expect(existsSync(path.join(workspace.repo, 'made'))).toBe(true);
  });

  it('hide a directory but for what the same file makes readable', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, 'all/one', 'TOKEN-A');
    write(workspace.home, 'all/sub/two', 'TOKEN-B');
    write(workspace.home, 'all/sub/open/three', 'OPEN-C');
    writeSettings(workspace.home, {
      filesystem: { denyRead: ['~/all'], allowRead: ['~/all/sub/open'] },
    });
    // The exception of another file counts for nothing.
    writeSettings(workspace.repo, { filesystem: { allowRead: ['~/all'], denyRead: ['none'] } });
    const output = await runTask(workspace, 'cat ~/all/one ~/all/sub/two ~/all/sub/open/three');
    expect(output).toContain('OPEN-C');
    expect(output).not.toMatch(/TOKEN-[AB]/);
  });

  it('keep hidden what is named within what is made readable', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, 'all/secret', 'TOKEN-A');
    write(workspace.home, 'all/same', 'TOKEN-B');
    write(workspace.home, 'kinds/a.pem', 'TOKEN-C');
    write(workspace.home, 'kinds/open.pem', 'OPEN-D');
    writeSettings(workspace.home, {
      filesystem: {
        denyRead: ['~/all/secret', '~/all/same', '~/kinds/*.pem'],
        allowRead: ['~/', '~/all', '~/all/same', '~/kinds/open.pem'],
      },
    });
    const output = await runTask(workspace, 'cat ~/all/secret ~/all/same ~/kinds/*.pem');
    expect(output).toContain('OPEN-D');
    expect(output).not.toMatch(/TOKEN-[ABC]/);
  });

  it.each([
    [{ deniedDomains: ['localhost:PORT'] }, [`${REFUSED} localhost.`, 'served']],
    [{ allowedDomains: ['localhost:1', '127.0.0.1:PORT'] }, [`${REFUSED} localhost.`, 'served']],
    [{ allowedDomains: ['localhost'] }, ['served', `${REFUSED} 127.0.0.1.`]],
    [{ deniedDomains: ['localhost'] }, [`${REFUSED} localhost.`, 'served']],
    [{ allowedDomains: ['localhost'], deniedDomains: ['*'] }, ['', '']],
    [{ allowedDomains: [] }, ['', '']],
  ])('limit the network with %j', async (network, expected) => {
    const server = createServer((_request, response) => response.end('served'));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const workspace = createTempWorkspace();
    const text = JSON.stringify({ network }).replaceAll('PORT', String(port));
    writeSettings(workspace.repo, JSON.parse(text));
    const fetch = (host: string) =>
      `echo "<$(NO_PROXY= no_proxy= curl -s -m 20 http://${host}:${port}/)>"`;
    const output = await runTask(workspace, `${fetch('localhost')}; ${fetch('127.0.0.1')}`);
    const answers = [...output.matchAll(/<([^>]*)>/g)].map(([, text]) => text);
    expect(answers.slice(0, 2)).toEqual(expected);
  });

  it.each(['user', 'workspace'] as const)('of the %s forbid to leave it', async (whose) => {
    const workspace = createTempWorkspace();
    const directory = whose === 'user' ? workspace.home : workspace.repo;
    writeSettings(directory, { allowUnsandboxedCommands: false });
    const call = { command: 'echo out', dangerouslyDisableSandbox: true };
    const turns = [{ tools: [{ name: 'Bash', input: call }] }, DONE];
    const [end] = toolEnds(await runScript(workspace, turns, ['go', ...STREAM]));
    expect(end).toMatchObject({ deniedBy: 'rule' });
    expect(errorOf(end)).toMatch(/outside of the sandbox.*\.claude\/settings\.json forbids/);
  });

  it('loosen nothing, and one note names the file and the keys', async () => {
    const workspace = createTempWorkspace();
    const outside = path.join(workspace.directory, 'outside');
    writeSettings(workspace.repo, {
      enabled: false,
      excludedCommands: ['node'],
      filesystem: { allowWrite: [workspace.directory] },
    });
    writeTask(workspace.repo, `echo x > ${outside}`);
    const turns = [bash('node task.cjs'), DONE];
    const result = await runScript(workspace, turns, ['go', ...STREAM]);
    expect(existsSync(outside)).toBe(false);
    expect(toolEnds(result)[0]).toMatchObject({ output: { sandbox: 'workspace' } });
    const note =
      /settings\.json: line 1: ignored: "sandbox\.enabled", "sandbox\.excludedCommands"/g;
    expect(result.stderr.match(note)).toHaveLength(1);
    const list = await runHookline(['hooks', 'list', '--json'], at(workspace));
    expect(list.stdout).toContain('sandbox.excludedCommands');
  });

  it('require the sandbox, also where it is off or does not work', async () => {
    const workspace = createTempWorkspace();
    writeSettings(workspace.repo, { enabled: true });
    write(workspace.home, '.hookline/config.json', '{"sandbox":{"mode":"off"}}');
    const turns = [bash('true'), DONE];
    const on = await runScript(workspace, turns, ['go', ...STREAM]);
    expect(toolEnds(on)[0]).toMatchObject({ output: { sandbox: 'workspace' } });
    const failed = await runWithoutBubblewrap(workspace, scripted(workspace, turns, ['go']));
    expect(failed).toMatchObject({ code: 2, stdout: '' });
    expect(failed.stderr).toContain('"sandbox.enabled" in .claude/settings.json is true');
    const chosen = [...STREAM, '--sandbox', 'off'];
    const off = await runScript(workspace, turns, ['go', ...chosen]);
    expect(JSON.stringify(toolEnds(off)[0])).not.toContain('"sandbox"');
  });
});

function runWithoutBubblewrap(workspace: TempWorkspace, command: readonly string[]) {
  const { cwd, home } = at(workspace);
  const base = ['--bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--unshare-pid'];
  const absent = ['--ro-bind', '/dev/null', realpathSync('/usr/bin/bwrap')];
  const program = [process.execPath, hooklineProgram(), ...command];
  const child = spawn('bwrap', [...base, ...absent, '--', ...program], {
    cwd,
    env: environmentOf({ home }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return resultOf(child);
}
