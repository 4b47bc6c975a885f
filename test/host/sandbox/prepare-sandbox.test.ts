import { unlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { bashTool } from '../../../src/agent/tools/bash.ts';
import type { OpenedSandbox } from '../../../src/agent/tools/shell/shell-launch.ts';
import { openHooks } from '../../../src/host/open-hooks.ts';
import { openPermissions } from '../../../src/host/open-permissions.ts';
import { openSandbox } from '../../../src/host/sandbox/open-sandbox.ts';
import type { SandboxedProgram } from '../../../src/process/sandbox/create-sandbox.ts';
import { createToolFixture, use } from '../../agent/tools/fixture.ts';
import { createTempWorkspace } from '../temp-workspace.ts';

/** A session's sandbox, and a socket beside the workspace that it has to hide. */
async function openWithSocket() {
  const { base, root, home, surroundings } = createTempWorkspace();
  const opened = openHooks({ surroundings, roots: [root] });
  const { permissions } = openPermissions(opened);
  const session = await openSandbox({ opened, permissions, mode: 'on', notice: () => undefined });
  onTestFinished(() => session.close());
  const sandbox = await session.open();
  if (sandbox === null || typeof sandbox === 'string') return expect.fail(`no sandbox: ${sandbox}`);
  const socket = path.join(base, 'service.sock');
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(socket, resolve));
  onTestFinished(() => void server.close());
  return { sandbox, socket, root, home };
}

test('a command is tried again when a socket goes away while its sandbox is made', async () => {
  const { sandbox, socket } = await openWithSocket();
  const unlucky: OpenedSandbox = {
    ...sandbox,
    enter(program, access) {
      const sandboxed = sandbox.enter(program, access);
      unlinkSync(socket);
      return sandboxed;
    },
  };
  const { toolContext } = createToolFixture();
  const context = { ...toolContext, sandbox: { open: async () => unlucky } };
  expect(await use(bashTool, context, { command: 'echo ran' })).toMatchObject({
    text: 'ran',
    success: true,
    sandbox: 'workspace',
  });
});

test('a sandbox that cannot be made is reported after some attempts', async () => {
  const { sandbox } = await openWithSocket();
  let attempts = 0;
  const breakIt = (sandboxed: SandboxedProgram | string): SandboxedProgram | string => {
    if (typeof sandboxed === 'string') return sandboxed;
    const args = ['--ro-bind', '/no/such/place', '/', ...sandboxed.program.args];
    return {
      ...sandboxed,
      program: { ...sandboxed.program, args },
      track: () => void (attempts += 1),
      prepareAgain: () => breakIt(sandboxed.prepareAgain()),
    };
  };
  const broken: OpenedSandbox = {
    ...sandbox,
    enter: (program, access) => breakIt(sandbox.enter(program, access)),
  };
  const { toolContext } = createToolFixture();
  const context = { ...toolContext, sandbox: { open: async () => broken } };
  const output = await use(bashTool, context, { command: 'echo ran' });
  expect(output).toMatchObject({ success: false });
  expect(output.text).toContain('The sandbox could not be set up, so the command did not run.');
  // More than this when other programs' sockets come and go meanwhile.
  expect(attempts).toBeGreaterThanOrEqual(10);
});

test('the first command does not see the state directory, either', async () => {
  const { sandbox, home } = await openWithSocket();
  const { toolContext } = createToolFixture();
  const context = { ...toolContext, sandbox: { open: async () => sandbox } };
  const { text } = await use(bashTool, context, { command: `ls ${home}/.hookline; true` });
  expect(text).toContain('Permission denied');
});

test('commands use the same script again, and two at a time their own', async () => {
  const { sandbox } = await openWithSocket();
  const first = sandbox.takeScript();
  const second = sandbox.takeScript();
  expect(first.file).not.toBe(second.file);
  first.giveBack();
  expect(sandbox.takeScript().file).toBe(first.file);
});
