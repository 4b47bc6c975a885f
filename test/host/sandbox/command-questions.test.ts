import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ApprovalRequest, Person } from '../../../src/agent/session-context.ts';
import type { HostOptions } from '../../../src/host/create-host.ts';
import { createAgentFixture, type AgentFixture } from '../../agent/agent-fixture.ts';
import { answersIn, calls, createModelRecorder } from '../../agent/scripted-session.ts';
import { write } from '../../base/directory.ts';
import { hasProgram } from '../../cli/temp-workspace.ts';

/** A machine with keys, on which ssh is a program of the test. */
interface Machine {
  readonly fixture: AgentFixture;
  readonly env: Readonly<Record<string, string>>;
  readonly remote: string;
  readonly agent: string;
}

const IDENTITY = '[user]\n\tname = a\n\temail = a@b\n[init]\n\tdefaultBranch = main\n';

/** A workspace whose remote is a bare repository on another host, with a commit to push. */
async function createMachine(): Promise<Machine> {
  const fixture = createAgentFixture();
  const base = path.dirname(fixture.home);
  const remote = path.join(base, 'remote.git');
  const agent = path.join(base, 'agent.sock');
  fixture.write('~/.gitconfig', IDENTITY);
  fixture.write('~/.ssh/key', 'the key');
  write(path.join(base, 'bin/ssh'), formatSsh(await startSshServer()), 0o755);
  const env = { PATH: `${base}/bin:${process.env['PATH']}`, HOME: fixture.home };
  const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, env });
  git(base, 'init', '-q', '--bare', remote);
  git(fixture.workspace, 'init', '-q', '.');
  git(fixture.workspace, 'commit', '-q', '--allow-empty', '-m', 'one');
  git(fixture.workspace, 'remote', 'add', 'origin', `me@host.example:${remote}`);
  return { fixture, env, remote, agent };
}

/** The other side of ssh, which is not in the sandbox: runs the first line, with the rest as its input. */
async function startSshServer(): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.once('data', (first: Buffer) => {
      const end = first.indexOf('\n');
      const child = spawn('sh', ['-c', first.subarray(0, end).toString()]);
      child.stdin.write(first.subarray(end + 1));
      client.pipe(child.stdin);
      child.stdout.pipe(client);
      child.stderr.resume();
    });
    client.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Needs a key, and the agent where a variable names one, as ssh does. */
function formatSsh(port: number): string {
  return `#!${process.execPath}
const net = require('node:net');
require('node:fs').readFileSync(process.env.HOME + '/.ssh/key');
const agent = process.env.SSH_AUTH_SOCK;
if (agent !== undefined) net.connect(agent).end();
const server = net.connect({ port: ${port}, host: '127.0.0.1', allowHalfOpen: true });
server.write(process.argv.at(-1) + '\\n');
process.stdin.pipe(server);
server.pipe(process.stdout);
server.on('end', () => process.exit(0));
`;
}

async function listenOn(socket: string): Promise<() => number> {
  let count = 0;
  const server = createServer((connection) => {
    count += 1;
    connection.destroy();
  });
  await new Promise<void>((resolve) => void server.listen(socket, resolve));
  onTestFinished(() => void server.close());
  return () => count;
}

/** Runs one command of the agent, in the sandbox, in a mode that allows everything else. */
async function runCommand(
  { fixture, env }: Pick<Machine, 'fixture' | 'env'>,
  command: string,
  options: HostOptions & { readonly answer?: boolean | null; readonly input?: object } = {},
) {
  const { answer = true, input, ...rest } = options;
  const asked: ApprovalRequest[] = [];
  const person: Person = {
    async approve(request) {
      asked.push(request);
      return { isAllowed: answer === true };
    },
    answer: async () => null,
  };
  const recorder = createModelRecorder([calls(['Bash', { command, ...input }]), { text: 'Done.' }]);
  const host = await fixture.open({
    model: recorder.model,
    permissionMode: 'bypassPermissions',
    sandbox: 'on',
    surroundings: {
      cwd: fixture.workspace,
      env,
      home: fixture.home,
      platform: process.platform,
      nodePath: process.execPath,
    },
    ...(answer === null ? {} : { person }),
    ...rest,
  });
  const { result } = await host.start({ prompt: 'go' });
  return {
    reasons: asked.map(({ reason }) => reason),
    output: answersIn(recorder)[0] ?? '',
    result,
  };
}

function listRemoteCommits({ remote }: Machine): string {
  const args = ['-C', remote, 'log', '--all', '--format=%s'];
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}

describe('a push that needs ~/.ssh', () => {
  test('asks, names it, and works in the sandbox', async () => {
    const machine = await createMachine();
    machine.fixture.write('~/.aws/credentials', 'token');
    const count = await listenOn(machine.agent);
    const env = { ...machine.env, SSH_AUTH_SOCK: machine.agent };
    const command = 'git push -q origin main; echo "code $?"; touch ~/.ssh/made ~/made; ls ~/.aws';
    const { reasons, output } = await runCommand({ ...machine, env }, command);
    expect(reasons).toEqual([
      `Bash with command ${command} needs approval in every mode: git push (me@host.example:${machine.remote}) needs ~/.ssh and the agent of SSH_AUTH_SOCK, which the sandbox hides. Allowed, the whole command line can read and use that, and still runs in the sandbox.`,
    ]);
    expect(output).toContain('code 0');
    expect(output).toContain("cannot touch '");
    expect(output).toMatch(/\.aws'?: Permission denied/);
    expect(existsSync(path.join(machine.fixture.home, '.ssh/made'))).toBe(false);
    expect(listRemoteCommits(machine)).toBe('one');
    expect(count()).toBe(1);
  });

  test('is not sent when the user says no', async () => {
    const machine = await createMachine();
    const { reasons, output } = await runCommand(machine, 'git push -q origin main', {
      answer: false,
    });
    expect(reasons).toHaveLength(1);
    expect(output).toBe('The user denied this call.');
    expect(listRemoteCommits(machine)).toBe('');
  });

  test('is denied where nobody can be asked, with what to do', async () => {
    const machine = await createMachine();
    const { output, result } = await runCommand(machine, 'git push -q origin main', {
      answer: null,
    });
    expect(output).toMatch(
      /needs ~\/\.ssh, which the sandbox hides\..*`--sandbox off`\. No user is/,
    );
    expect(result?.denials).toHaveLength(1);
    expect(listRemoteCommits(machine)).toBe('');
  });

  test('asks although a rule allows it and a hook answers for the user', async () => {
    const machine = await createMachine();
    const settings = {
      hooks: {
        PreToolUse: [
          {
            hooks: [
              {
                type: 'command',
                command: `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'`,
              },
            ],
          },
        ],
        PermissionRequest: [
          {
            hooks: [
              {
                type: 'command',
                command: `echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'`,
              },
            ],
          },
        ],
      },
    };
    machine.fixture.write('~/.claude/settings.json', JSON.stringify(settings));
    const { reasons } = await runCommand(machine, 'git push -q origin main', {
      permissionMode: 'default',
      allow: ['Bash'],
    });
    expect(reasons).toHaveLength(1);
    expect(listRemoteCommits(machine)).toBe('one');
  });

  test('opens nothing that a deny rule hides', async () => {
    const machine = await createMachine();
    const { reasons, output } = await runCommand(machine, 'git push -q origin main', {
      deny: ['Read(~/.ssh/**)'],
    });
    expect(reasons).toEqual([]);
    expect(output).toMatch(/permission denied[\s\S]*dangerouslyDisableSandbox/);
    expect(listRemoteCommits(machine)).toBe('');
  });

  test('asks nothing outside of a sandbox, nor about leaving it twice', async () => {
    const machine = await createMachine();
    const off = await runCommand(machine, 'git push -q origin main', { sandbox: 'off' });
    expect(off.reasons).toEqual([]);
    const exit = { input: { dangerouslyDisableSandbox: true } };
    const { reasons } = await runCommand(machine, 'git push -q origin main', exit);
    expect(reasons).toEqual([expect.stringContaining('asks to run outside of the sandbox')]);
  });

  test.each(['git fetch -q', 'git ls-remote', 'git pull -q origin main'])(
    'as %s does',
    async (command) => {
      const machine = await createMachine();
      execFileSync('git', ['push', '-q', machine.remote, 'main'], {
        cwd: machine.fixture.workspace,
      });
      const { reasons, output } = await runCommand(machine, `${command}; echo "code $?"`);
      expect(reasons).toEqual([expect.stringContaining('needs ~/.ssh')]);
      expect(output).toContain('code 0');
    },
  );
});

test('an agent that listens in /run is reached, and nothing else there', async () => {
  const machine = await createMachine();
  const directory = `/run/hookline-test-${process.pid}`;
  mkdirSync(directory);
  onTestFinished(() => void execFileSync('rm', ['-rf', directory]));
  const count = await listenOn(`${directory}/agent`);
  await listenOn(`${directory}/other`);
  const env = { ...machine.env, SSH_AUTH_SOCK: `${directory}/agent` };
  const { output } = await runCommand(
    { ...machine, env },
    `git push -q origin main; ls ${directory}`,
  );
  expect(output).toBe('agent');
  expect(count()).toBe(1);
  expect(listRemoteCommits(machine)).toBe('one');
});

test.each([
  ['gh', '.config/gh/hosts.yml'],
  ['aws', '.aws/credentials'],
  ['kubectl', '.kube/config'],
])('%s asks for ~/%s', async (program, file) => {
  const machine = await createMachine();
  machine.fixture.write(`~/${file}`, 'token');
  const tool = path.join(path.dirname(machine.fixture.home), 'bin', program);
  write(tool, `#!/bin/sh\ncat "$HOME/${file}"; cat "$HOME/.ssh/key"\n`, 0o755);
  const { reasons, output } = await runCommand(machine, `${program} list`);
  expect(reasons).toEqual([
    expect.stringContaining(`${program} needs ~/${path.dirname(file)}, which`),
  ]);
  expect(output).toMatch(/token[\s\S]*key'?: Permission denied/);
});

test.skipIf(!hasProgram('gpg'))(
  'a signed commit asks for ~/.gnupg, and uses the agent',
  async () => {
    const machine = await createMachine();
    const { fixture } = machine;
    const keys = path.join(fixture.home, '.gnupg');
    mkdirSync(keys);
    chmodSync(keys, 0o700);
    const gpg = (...args: string[]) =>
      execFileSync('gpg', ['--homedir', keys, '--batch', ...args], { stdio: 'pipe' });
    gpg('--passphrase', '', '--quick-gen-key', 'a <a@b>', 'default', 'default', 'never');
    onTestFinished(() => void execFileSync('gpgconf', ['--homedir', keys, '--kill', 'all']));
    const command = 'git commit -q --allow-empty -S -m signed; touch ~/.gnupg/made; true';
    const { reasons, output } = await runCommand(machine, command);
    expect(reasons).toEqual([expect.stringContaining('git commit, which signs needs ~/.gnupg')]);
    expect(output).toContain('Read-only file system');
    const options = { cwd: fixture.workspace, env: machine.env, encoding: 'utf8' } as const;
    expect(execFileSync('git', ['log', '-1', '--format=%s %G?'], options)).toMatch(/^signed [GU]/);
  },
);

test('an update of submodules asks, and changes no more of their git directories', async () => {
  const machine = await createMachine();
  const { fixture, env } = machine;
  const script = `set -e
    git init -q ../lib; git -C ../lib commit -q --allow-empty -m one
    git -c protocol.file.allow=always submodule --quiet add $PWD/../lib lib; git commit -qm lib
    git -C ../lib commit -q --allow-empty -m two`;
  execFileSync('bash', ['-c', script], { cwd: fixture.workspace, env });
  const hook = '.git/modules/lib/hooks/post-checkout';
  const command = `git -c protocol.file.allow=always submodule --quiet update --remote; git -C lib log -1 --format=%s; echo x > ${hook}; echo x >> .git/config`;
  const { reasons, output } = await runCommand(machine, command);
  expect(reasons).toEqual([
    expect.stringContaining(
      'git submodule writes .git/modules/*/config, which controls what git runs',
    ),
  ]);
  expect(output).toMatch(/^two$/m);
  expect(existsSync(path.join(fixture.workspace, hook))).toBe(false);
  expect(readFileSync(path.join(fixture.workspace, '.git/config'), 'utf8')).not.toMatch(/^x$/m);
});

describe('what deny rules match and cannot be listed', () => {
  const deny = ['Read(**/*.pem)', 'Read(./.env)'];

  /** More than the thousand files that a sandbox hides one by one. */
  async function createCrowd(): Promise<Machine> {
    const machine = await createMachine();
    for (let index = 0; index < 1100; index += 1) machine.fixture.write(`f${index}.pem`, 'SECRET');
    machine.fixture.write('.env', 'TOKEN');
    return machine;
  }

  test('makes a command a question, and is hidden as far as it was found', async () => {
    const machine = await createCrowd();
    machine.fixture.write(
      'read.cjs',
      `const fs = require('node:fs');
       const isHidden = (name) => { try { fs.readFileSync(name); return false; } catch { return true; } };
       console.log(fs.readdirSync('.').filter((name) => /pem$|env$/.test(name)).filter(isHidden).length);
       console.log(isHidden('.env'));`,
    );
    const { reasons, output } = await runCommand(machine, 'node read.cjs', { deny });
    expect(reasons).toEqual([
      'Bash with command node read.cjs needs approval in every mode: some files of deny rules cannot be hidden in the sandbox: those of Read(**/*.pem) of --deny, because deny rules match more than 1000 files. Allowed, those that were found stay hidden, and of the others only what the command line names is checked.',
    ]);
    expect(output).toBe('1002\ntrue');
  });

  test('is denied where nobody can be asked', async () => {
    const machine = await createCrowd();
    const { output } = await runCommand(machine, 'ls', { deny, answer: null });
    expect(output).toMatch(/Write the rule for fewer files or directories.* No user is available/);
  });
});

test('commands that need nothing ask nothing', async () => {
  const machine = await createMachine();
  const { reasons } = await runCommand(machine, 'git status --short; git log --oneline');
  expect(reasons).toEqual([]);
});
