import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { listAgentNames } from '../../src/agents/agents.ts';
import { listEntries } from '../../src/agents/entries.ts';
import { disableAgent, enableAgent } from '../../src/agents/switch-agents.ts';
import { BugError, isHooklineError } from '../../src/base/errors.ts';
import type { EntriesFile, InstallScope } from '../../src/dialects/install.ts';
import {
  type AgentsFixture,
  createAgentsFixture,
  listAgentFiles,
  readTree,
  write,
} from './fixture.ts';

const NOW = 1_795_000_000_000;

/** A group of somebody else's, on one line. */
const FOREIGN = '{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "guard.sh" }] }';

/** Texts of a settings file whose events are in \`hooks\`. */
const TEXTS: Readonly<Record<string, string>> = {
  'an empty object': '{}',
  'an empty object over two lines': '{\n}\n',
  'no trailing line break': '{ "model": "x" }',
  'empty hooks': '{\n  "hooks": {}\n}\n',
  'an event without entries':
    '{ "hooks": { "PreToolUse": [], "preToolUse": [], "BeforeTool": [] } }\n',
  'comments and trailing commas': `// mine\n{\n\t"model": "x", // keep\n\t/* before */ "hooks": {\n\t\t"PreToolUse": [\n\t\t\t${FOREIGN}, // a guard\n\t\t],\n\t},\n}\n`,
  'odd formatting': `{"a":1,\n\n      "hooks":{"PreToolUse":[${FOREIGN}],\n "Stop" : [\n ${FOREIGN} ]}   }`,
  'hooks before other keys': `{\n    "hooks": {\n        "SessionEnd": [\n            ${FOREIGN}\n        ]\n    },\n    "env": { "A": "b" }\n}\n`,
  CRLF: `{\r\n  "model": "x",\r\n  "hooks": {\r\n    "PreToolUse": [\r\n      ${FOREIGN}\r\n    ]\r\n  }\r\n}\r\n`,
  'a byte-order mark': `\uFEFF{\n  "model": "ü€😀"\n}\n`,
  'an empty file': '',
};

function adapt(text: string, { container }: EntriesFile): string {
  // Droid's file is the map of events itself.
  return container.length > 0 ? text : text.replace(/"hooks" ?: ?\{/, '"other": {');
}

async function listEntriesFiles(
  name: string,
  { machine }: AgentsFixture,
  scope: InstallScope = 'user',
): Promise<readonly EntriesFile[]> {
  const files = await listAgentFiles(name, machine, scope);
  return files.flatMap((file) => (file.kind === 'entries' ? [file] : []));
}

describe.each(listAgentNames())('switching %s on and off', (name) => {
  it.each(['user', 'project'] as const)(
    'removes every file and directory that it created (%s)',
    async (scope) => {
      const fixture = createAgentsFixture();
      const before = [readTree(fixture.home), readTree(fixture.project)];
      const enabled = await enableAgent(fixture.machine, name, { scope, now: NOW });
      expect(enabled.changes.map(({ path: file }) => file)).toEqual(
        (await listAgentFiles(name, fixture.machine, scope)).map((file) => file.path),
      );
      expect([readTree(fixture.home), readTree(fixture.project)]).not.toEqual(before);
      await disableAgent(fixture.machine, name, { scope, now: NOW });
      expect([readTree(fixture.home), readTree(fixture.project)]).toEqual(before);
    },
  );

  it.each(Object.keys(TEXTS))('restores a file with %s byte for byte', async (kind) => {
    const fixture = createAgentsFixture();
    for (const file of await listEntriesFiles(name, fixture)) {
      chmodSync(write(file.path, adapt(TEXTS[kind] ?? '', file)), 0o640);
    }
    const before = readTree(fixture.home);
    await enableAgent(fixture.machine, name, { scope: 'user', now: NOW });
    for (const { path: file, container, entries } of await listEntriesFiles(name, fixture)) {
      const events = listEntries(readFileSync(file, 'utf8'), container)
        .filter(({ command }) => command.includes('.hookline/bin/hook'))
        .map(({ event }) => event);
      expect(events.toSorted()).toEqual(Object.keys(entries).toSorted());
      expect(statSync(file).mode & 0o777).toBe(0o640);
    }
    await disableAgent(fixture.machine, name, { scope: 'user', now: NOW });
    expect(readTree(fixture.home)).toEqual(before);
  });

  it('changes nothing the second time', async () => {
    const fixture = createAgentsFixture();
    await enableAgent(fixture.machine, name, { scope: 'user', now: NOW });
    const once = readTree(fixture.home);
    const again = await enableAgent(fixture.machine, name, { scope: 'user', now: NOW + 1 });
    expect(again.changes).toEqual([]);
    expect(readTree(fixture.home)).toEqual(once);
    await disableAgent(fixture.machine, name, { scope: 'user', now: NOW });
    const off = await disableAgent(fixture.machine, name, { scope: 'user', now: NOW });
    expect(off.changes).toEqual([]);
  });

  it('writes nothing in a dry run', async () => {
    const fixture = createAgentsFixture();
    const before = readTree(fixture.home);
    const planned = await enableAgent(fixture.machine, name, {
      scope: 'user',
      now: NOW,
      isDryRun: true,
    });
    expect(planned.changes.length).toBeGreaterThan(0);
    expect(readTree(fixture.home)).toEqual(before);
    expect(existsSync(fixture.machine.stateDirectory)).toBe(false);
  });

  it('removes entries that no record knows', async () => {
    const fixture = createAgentsFixture();
    const before = readTree(fixture.home);
    await enableAgent(fixture.machine, name, { scope: 'user', now: NOW });
    renameSync(
      path.join(fixture.machine.stateDirectory, 'agents.json'),
      path.join(fixture.home, '.hookline', 'lost'),
    );
    await disableAgent(fixture.machine, name, { scope: 'user', now: NOW });
    const left = Object.values(readTree(fixture.home)).filter((text) => text.includes('bin/hook'));
    expect(left).toEqual([]);
    expect(Object.keys(readTree(fixture.home))).toEqual(
      expect.arrayContaining(Object.keys(before)),
    );
  });
});

/** Agents with files that are ours as a whole need none of these. */
const WITH_SETTINGS = listAgentNames().filter((name) => !['copilot', 'opencode'].includes(name));

describe.each(WITH_SETTINGS)('the settings file of %s', (name) => {
  it('keeps what others changed while it was on', async () => {
    const fixture = createAgentsFixture();
    const files = await listEntriesFiles(name, fixture);
    for (const file of files) {
      write(
        file.path,
        adapt(
          `{\n  "model": "x",\n  "hooks": {\n    "PreToolUse": [\n      ${FOREIGN}\n    ]\n  }\n}\n`,
          file,
        ),
      );
    }
    await enableAgent(fixture.machine, name, { scope: 'user', now: NOW });
    const expected = new Map<string, string>();
    for (const file of files) {
      const text = readFileSync(file.path, 'utf8');
      writeFileSync(file.path, text.replace('"x"', '"another"'));
      expected.set(
        file.path,
        adapt(
          `{\n  "model": "another",\n  "hooks": {\n    "PreToolUse": [\n      ${FOREIGN}\n    ]\n  }\n}\n`,
          file,
        ),
      );
    }
    await disableAgent(fixture.machine, name, { scope: 'user', now: NOW });
    for (const [file, text] of expected) expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('writes through a link and leaves the link', async () => {
    const fixture = createAgentsFixture();
    const files = await listEntriesFiles(name, fixture);
    for (const [index, file] of files.entries()) {
      const target = write(path.join(fixture.home, 'dotfiles', String(index)), '{ "a": 1 }\n');
      mkdirSync(path.dirname(file.path), { recursive: true });
      symlinkSync(target, file.path);
    }
    const before = readTree(fixture.home);
    await enableAgent(fixture.machine, name, { scope: 'user', now: NOW });
    for (const [index, file] of files.entries()) {
      expect(lstatSync(file.path).isSymbolicLink()).toBe(true);
      const text = readFileSync(path.join(fixture.home, 'dotfiles', String(index)), 'utf8');
      expect(text).toContain('bin/hook');
    }
    await disableAgent(fixture.machine, name, { scope: 'user', now: NOW });
    expect(readTree(fixture.home)).toEqual(before);
  });

  it.each([
    ['broken', '{ "hooks": [', 'CONFIG_INVALID'],
    ['an array', '[]', 'CONFIG_INVALID'],
    ['not UTF-8', Buffer.from([0xff, 0xfe, 0x7b, 0x00]), 'CONFIG_INVALID'],
  ])('refuses a file that is %s and changes nothing', async (_, bytes, code) => {
    const fixture = createAgentsFixture();
    const [file] = await listEntriesFiles(name, fixture);
    if (file === undefined) throw new BugError('an agent with settings has a file');
    mkdirSync(path.dirname(file.path), { recursive: true });
    writeFileSync(file.path, bytes);
    const before = readTree(fixture.home);
    expect(
      await findErrorCode(enableAgent(fixture.machine, name, { scope: 'user', now: NOW })),
    ).toBe(code);
    expect(readTree(fixture.home)).toEqual(before);
  });

  it('refuses a read-only file and changes nothing', async () => {
    const fixture = createAgentsFixture();
    const [file] = await listEntriesFiles(name, fixture);
    if (file === undefined) throw new BugError('an agent with settings has a file');
    chmodSync(write(file.path, '{}'), 0o444);
    const before = readTree(fixture.home);
    expect(
      await findErrorCode(enableAgent(fixture.machine, name, { scope: 'user', now: NOW })),
    ).toBe('CONFIG_UNWRITABLE');
    expect(readTree(fixture.home)).toEqual(before);
  });
});

describe('a file that somebody else wrote', () => {
  it.each([
    ['cline', 'Documents/Cline/Hooks/PreToolUse', '#!/bin/sh\nexit 0\n'],
    ['cline', 'Documents/Cline/Hooks/PreToolUse', "#!/bin/sh\nexec '/opt/tools/bin/hook' cline\n"],
    ['copilot', '.copilot/hooks/hookline.json', '{ "version": 1, "hooks": {} }'],
    ['copilot', '.copilot/hooks/hookline.json', 'not JSON'],
    ['opencode', '.config/opencode/plugin/hookline.js', 'export const A = async () => ({});\n'],
    ['opencode', '.config/opencode/plugin/hookline.manifest.json', '{}'],
  ])('keeps %s from being installed at %s', async (name, file, text) => {
    const fixture = createAgentsFixture();
    write(path.join(fixture.home, file), text);
    const before = readTree(fixture.home);
    const refused = enableAgent(fixture.machine, name, { scope: 'user', now: NOW });
    expect(await findErrorCode(refused)).toBe('AGENT_OCCUPIED');
    expect(readTree(fixture.home)).toEqual(before);
    await disableAgent(fixture.machine, name, { scope: 'user', now: NOW });
    expect(readTree(fixture.home)).toEqual(before);
  });

  it('is said with a way to combine both', async () => {
    const fixture = createAgentsFixture();
    write(path.join(fixture.home, 'Documents/Cline/Hooks/PreToolUse'), '#!/bin/sh\n');
    await expect(
      enableAgent(fixture.machine, 'cline', { scope: 'user', now: NOW }),
    ).rejects.toMatchObject({
      hint: `Add this line to your hook, after it has read its input: printf '%s' "$input" | '${fixture.home}/.hookline/bin/hook' cline`,
    });
  });
});

describe('a link in a project', () => {
  it.each([
    ['the file', '.claude/settings.json', 'file'],
    ['its directory', '.claude', 'directory'],
  ])('that leads out of it is not written through: %s', async (_, link, kind) => {
    const fixture = createAgentsFixture();
    const outside = path.join(path.dirname(fixture.home), 'outside');
    write(path.join(outside, 'settings.json'), '{}');
    const place = path.join(fixture.project, link);
    mkdirSync(path.dirname(place), { recursive: true });
    symlinkSync(kind === 'file' ? path.join(outside, 'settings.json') : outside, place);
    const refused = enableAgent(fixture.machine, 'claude', { scope: 'project', now: NOW });
    expect(await findErrorCode(refused)).toBe('CONFIG_UNWRITABLE');
    expect(readFileSync(path.join(outside, 'settings.json'), 'utf8')).toBe('{}');
  });

  it('to nothing is not written through', async () => {
    const fixture = createAgentsFixture();
    symlinkSync('/nowhere/settings.json', path.join(fixture.home, '.claude/settings.json'));
    const refused = enableAgent(fixture.machine, 'claude', { scope: 'user', now: NOW });
    expect(await findErrorCode(refused)).toBe('CONFIG_UNWRITABLE');
  });
});

const NPX = 'npx @principal-ai/agent-hooks claude-hook --port 3043';

describe('entries of the vanished package', () => {
  const text = `{\n  "hooks": {\n    "PreToolUse": [\n      ${FOREIGN},\n      { "matcher": "*", "hooks": [{ "type": "command", "command": "${NPX}", "timeout": 30 }] }\n    ],\n    "Stop": [{ "matcher": "*", "hooks": [{ "type": "command", "command": "${NPX}" }] }]\n  }\n}\n`;

  it('are named and left alone without --replace', async () => {
    const fixture = createAgentsFixture();
    const file = write(path.join(fixture.home, '.claude/settings.json'), text);
    const { former } = await enableAgent(fixture.machine, 'claude', { scope: 'user', now: NOW });
    expect(former).toHaveLength(2);
    expect(former.every((place) => place.startsWith(`${file}:`))).toBe(true);
    expect(readFileSync(file, 'utf8')).toContain(NPX);
  });

  it.each([
    ['claude', '.claude/settings.json'],
    ['cline', '.cline/settings.json'],
    ['cline', '.cline/hooks.json'],
    ['droid', '.factory/settings.json'],
    ['gemini', '.gemini/settings.json'],
  ])('of %s in %s are replaced on request, and restored', async (name, place) => {
    const fixture = createAgentsFixture();
    const file = write(path.join(fixture.home, place), text);
    const replaced = await enableAgent(fixture.machine, name, {
      scope: 'user',
      now: NOW,
      replacesFormer: true,
    });
    expect(replaced.former).toEqual([]);
    expect(readFileSync(file, 'utf8')).not.toContain('@principal-ai');
    expect(readFileSync(file, 'utf8')).toContain('guard.sh');
    await disableAgent(fixture.machine, name, { scope: 'user', now: NOW });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('of opencode are a plugin and its manifest', async () => {
    const fixture = createAgentsFixture();
    const directory = path.join(fixture.home, '.config/opencode/plugin');
    write(path.join(directory, 'agent-monitor.js'), 'post("http://localhost:3100/opencode-hook")');
    write(path.join(directory, 'agent-monitor.manifest.json'), '{"version":"0.1.2"}');
    const before = readTree(fixture.home);
    const left = await enableAgent(fixture.machine, 'opencode', { scope: 'user', now: NOW });
    expect(left.former).toHaveLength(2);
    await enableAgent(fixture.machine, 'opencode', {
      scope: 'user',
      now: NOW,
      replacesFormer: true,
    });
    expect(existsSync(path.join(directory, 'agent-monitor.js'))).toBe(false);
    await disableAgent(fixture.machine, 'opencode', { scope: 'user', now: NOW });
    expect(readTree(fixture.home)).toEqual(before);
  });
});

describe('droid', () => {
  it('gets each entry in the file that counts for its event', async () => {
    const fixture = createAgentsFixture();
    const settings = path.join(fixture.home, '.factory/settings.json');
    const map = path.join(fixture.home, '.factory/hooks.json');
    write(settings, `{ "hooks": { "PreToolUse": [${FOREIGN}], "Stop": [${FOREIGN}] } }`);
    write(map, `{ "Stop": [${FOREIGN}] }`);
    const before = readTree(fixture.home);
    await enableAgent(fixture.machine, 'droid', { scope: 'user', now: NOW });
    const own = (file: string, container: readonly string[]): readonly string[] =>
      listEntries(readFileSync(file, 'utf8'), container)
        .filter(({ command }) => command.includes('bin/hook'))
        .map(({ event }) => event);
    expect(own(settings, ['hooks'])).toEqual(['PreToolUse']);
    expect(own(map, [])).toContain('Stop');
    expect(own(map, [])).not.toContain('PreToolUse');
    await disableAgent(fixture.machine, 'droid', { scope: 'user', now: NOW });
    expect(readTree(fixture.home)).toEqual(before);
  });

  it('keeps the older file of hooks in force', async () => {
    const fixture = createAgentsFixture();
    const older = write(
      path.join(fixture.home, '.factory/hooks/hooks.json'),
      `{ "Stop": [${FOREIGN}] }`,
    );
    await enableAgent(fixture.machine, 'droid', { scope: 'user', now: NOW });
    expect(existsSync(path.join(fixture.home, '.factory/hooks.json'))).toBe(false);
    expect(readFileSync(older, 'utf8')).toContain('bin/hook');
  });
});

async function findErrorCode(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'none';
  } catch (error) {
    return isHooklineError(error) ? error.code : String(error);
  }
}
