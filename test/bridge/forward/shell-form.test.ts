import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  formatNodeForm,
  formatShellForm,
  type ShellFormPaths,
} from '../../../src/bridge/forward/shell-form.ts';
import { hooklineProgram, resultOf, runHookline } from '../../cli/hookline.ts';
import {
  createTempHome,
  readArray,
  readEvents,
  readPayloads,
  serveBridge,
  SILENT,
  type TempHome,
} from '../temp-home.ts';

interface Installed extends TempHome {
  readonly script: string;
  /** Written by whatever starts Node in the place of the real one. */
  readonly nodeLog: string;
}

/** Writes the script as `agents enable` does. Node is a wrapper that notes that it was started. */
function install(format: (paths: ShellFormPaths) => string): Installed {
  const home = createTempHome();
  const directory = path.join(home.home, "it's a bin");
  mkdirSync(directory);
  const nodeLog = path.join(home.home, 'node.log');
  const nodePath = path.join(directory, 'node');
  const node = `#!/bin/sh\nenv >> '${nodeLog}'\necho "args: $*" >> '${nodeLog}'\nexec ${process.execPath} "$@"\n`;
  writeFileSync(nodePath, node, { mode: 0o755 });
  const script = path.join(directory, 'hook');
  const text = format({
    home: home.home,
    runFile: path.join(home.stateDirectory, 'run', 'bridge'),
    nodePath,
    programPath: path.join(path.dirname(hooklineProgram()), 'agent-hook.js'),
  });
  writeFileSync(script, text, { mode: 0o700 });
  return { ...home, script, nodeLog };
}

interface Start {
  readonly env?: Readonly<Record<string, string>>;
  readonly shell?: readonly string[];
  readonly agent?: string;
}

function run(
  { script }: Installed,
  input: string | Uint8Array,
  { env = {}, shell = [], agent = 'codex' }: Start = {},
) {
  const [file = '', ...args] = [...shell, script, agent];
  const child = spawn(file, args, { env });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return resultOf(child);
}

const EVENT =
  '{ "hook_event_name": "PreToolUse", "text": "tab\\t ü \\u0000 \'quoted\' $(id) `id` %s \\\\" }\n';

/** What arrived, by whichever way. */
async function readArrived(home: TempHome) {
  await runHookline(['bridge', 'drain'], { cwd: home.home, home: home.home });
  return readEvents(home);
}

describe('the installed script under bash', () => {
  it('sends the event to the bridge without Node, byte for byte and verified', async () => {
    const home = install((paths) => formatShellForm(paths, 60));
    await serveBridge(home);
    expect(await run(home, EVENT)).toEqual(SILENT);
    const events = await readEvents(home);
    expect(readPayloads(events)).toEqual([EVENT]);
    expect(events).toMatchObject([{ agent: 'codex', isVerified: true, origin: 'bridge' }]);
    expect(existsSync(home.nodeLog)).toBe(false);
  });

  it('leaves the event to Node when no bridge runs', async () => {
    const home = install(formatShellForm);
    expect(await run(home, EVENT)).toEqual(SILENT);
    expect(existsSync(home.nodeLog)).toBe(true);
    const [element] = readArray(path.join(home.events, 'codex-hook-events.json'));
    expect(element).toMatchObject({ hook_event_name: 'PreToolUse' });
  });

  it.each([256 * 1024 - 1, 256 * 1024, 3 * 1024 * 1024])(
    'sends an event of %i bytes as it is',
    async (size) => {
      const home = install(formatShellForm);
      await serveBridge(home);
      const event = JSON.stringify({ text: '' });
      const input = JSON.stringify({ text: 'x'.repeat(size - event.length) });
      expect(await run(home, input)).toEqual(SILENT);
      expect(readPayloads(await readArrived(home))).toEqual([input]);
    },
  );

  it('stores an event once that the bridge takes after its answer was given up', async () => {
    const home = install(formatShellForm);
    const { child } = await serveBridge(home);
    child.kill('SIGSTOP');
    const large = JSON.stringify({ text: 'x'.repeat(250_000) });
    for (const input of [EVENT, large]) expect(await run(home, input)).toEqual(SILENT);
    child.kill('SIGCONT');
    await expect.poll(async () => (await readEvents(home)).length).toBe(2);
    expect(await readArrived(home)).toHaveLength(2);
  });

  it.each([
    ['is gone', 'kill'],
    ['is somebody else’s', 'pid 1\nstarted 1'],
  ])('does not send to a port whose process %s', async (_name, change) => {
    const home = install(formatShellForm);
    const bridge = await serveBridge(home);
    const file = path.join(home.stateDirectory, 'run', 'bridge');
    const text = readFileSync(file, 'utf8');
    if (change === 'kill') {
      bridge.child.kill('SIGKILL');
      await new Promise((resolve) => bridge.child.on('close', resolve));
    } else writeFileSync(file, text.replace(/pid \d+\nstarted \d+/, change));
    expect(await run(home, EVENT)).toEqual(SILENT);
    expect(existsSync(home.nodeLog)).toBe(true);
  });

  it('takes nothing from the environment', async () => {
    const home = install(formatShellForm);
    await serveBridge(home);
    const trap = path.join(home.home, 'trap');
    const planted = path.join(home.home, 'planted');
    mkdirSync(planted);
    for (const name of ['cat', 'env', 'printf', 'node']) {
      writeFileSync(path.join(planted, name), `#!/bin/sh\ntouch '${trap}'\n`, { mode: 0o755 });
    }
    const script = path.join(home.home, 'script.sh');
    writeFileSync(script, `touch '${trap}'\n`);
    const module = path.join(home.home, 'module.cjs');
    writeFileSync(module, `require('node:fs').writeFileSync(${JSON.stringify(trap)}, '')`);
    const env = {
      BASH_ENV: script,
      ENV: script,
      SHELLOPTS: 'xtrace:errexit:noexec:posix',
      BASHOPTS: 'extdebug',
      POSIXLY_CORRECT: '1',
      PS4: `$(touch '${trap}')`,
      'BASH_FUNC_printf%%': `() { touch '${trap}'; }`,
      'BASH_FUNC_read%%': `() { touch '${trap}'; }`,
      'BASH_FUNC_exec%%': `() { touch '${trap}'; }`,
      BASH_VERSION: '1',
      TMOUT: '1',
      IFS: '/.',
      NODE_OPTIONS: `--require ${module}`,
      NODE_PATH: planted,
      HOOKLINE_HOME: planted,
      HOME: planted,
      PATH: planted,
      LC_ALL: 'C.UTF-8',
    };
    const large = JSON.stringify({ text: 'ü'.repeat(200_000) });
    for (const input of [EVENT, large]) expect(await run(home, input, { env })).toEqual(SILENT);
    expect(readPayloads(await readArrived(home)).toSorted()).toEqual([EVENT, large].toSorted());
    expect(existsSync(trap)).toBe(false);
  });

  it('starts Node without LD_PRELOAD and whatever else the environment holds', async () => {
    const home = install(formatShellForm);
    const env = {
      LD_PRELOAD: '/nonexistent/library.so',
      SECRET: 'value',
      NODE_OPTIONS: '--inspect',
    };
    expect((await run(home, EVENT, { env })).code).toBe(0);
    const log = readFileSync(home.nodeLog, 'utf8');
    expect(log).not.toMatch(/^(?:LD_PRELOAD|SECRET|NODE_OPTIONS)=/m);
    expect(log).toContain(`--home ${home.home}`);
  });

  it('exits 0 and says nothing whatever is missing', async () => {
    const home = install(formatShellForm);
    chmodSync(path.join(path.dirname(home.script), 'node'), 0o600);
    expect(await run(home, EVENT)).toEqual(SILENT);
    expect(await run(home, EVENT, { agent: '../../x' })).toEqual(SILENT);
    expect(await run(home, '')).toEqual(SILENT);
  });
});

describe('the installed script under other shells', () => {
  it.each([
    ['the script for bash under dash', formatShellForm, ['dash']],
    ['the script for bash under dash with a variable that claims bash', formatShellForm, ['dash']],
    ['the script for every shell under dash', formatNodeForm, ['dash']],
    ['the script for every shell under bash', formatNodeForm, ['bash']],
    ['the script for every shell by its own line', formatNodeForm, []],
  ] as const)('%s leaves the event to Node', async (name, format, shell) => {
    const home = install(format);
    await serveBridge(home);
    const env = name.includes('claims')
      ? { BASH_VERSION: '5.2', PATH: '/usr/bin:/bin' }
      : { PATH: '/usr/bin:/bin' };
    expect(await run(home, EVENT, { shell, env })).toEqual(SILENT);
    expect(existsSync(home.nodeLog)).toBe(true);
    expect(readPayloads(await readArrived(home)).map((text) => text.trim())).toEqual([
      EVENT.trim(),
    ]);
  });
});
