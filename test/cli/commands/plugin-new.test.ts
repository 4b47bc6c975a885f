import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { NewOptions } from '../../../src/cli/commands/hooks-new.ts';
import type { GlobalFlags } from '../../../src/cli/context.ts';
import { loadAgentPluginFromPath } from '../../../src/index.ts';
import { PLUGIN_HOOK_NAMES } from '../../../src/dialects/cline-plugins/templates/hooks.ts';
import { createPluginTestHost } from '../../../src/testing.ts';
import { refusalOf } from '../../base/refusal.ts';
import { enterNewWorkspace, type NewHookOutput, collectNewHookOutput } from './new-hook.ts';
import { statesOf, type TempWorkspace } from '../../dialects/template-fixture.ts';

let workspace: TempWorkspace;

beforeEach(() => {
  workspace = enterNewWorkspace();
});

afterEach(() => {
  vi.unstubAllEnvs();
  workspace.remove();
});

function make(options: NewOptions, flags: GlobalFlags = {}): Promise<NewHookOutput> {
  return collectNewHookOutput({ dialect: 'plugin', ...options }, { cwd: workspace.root, ...flags });
}

function refusal(options: NewOptions): ReturnType<typeof refusalOf> {
  return refusalOf(make(options));
}

function inRoot(name: string): string {
  return path.join(workspace.root, '.cline', 'plugins', name);
}

describe('hooks new --dialect plugin', () => {
  it('writes a plugin, trusts it, and says how to see it work', async () => {
    const printedOutput = await make({});
    const file = inRoot('my-plugin.ts');
    expect(printedOutput).toEqual({
      out: [
        [
          file,
          'It runs before every tool call, and denies commands that force a push.',
          `  try it:         hookline plugin demo '${file}'`,
          '  after editing:  hookline trust',
        ].join('\n'),
      ],
      json: [],
      notes: [],
    });
    expect(Object.values(await statesOf(workspace))).toEqual(['ready']);
    writeFileSync(file, `${readFileSync(file, 'utf8')}// changed\n`);
    expect(Object.values(await statesOf(workspace))).toEqual(['modified']);
  });

  it('prints JSON, in JavaScript and for all workspaces, too', async () => {
    const { json } = await make({ event: 'afterTool', lang: 'node', global: true }, { json: true });
    const file = path.join(workspace.home, '.cline', 'plugins', 'my-after-tool.js');
    expect(json).toEqual([
      {
        path: file,
        event: 'afterTool',
        lang: 'node',
        id: expect.stringContaining('my-after-tool'),
        trusted: true,
        try: `hookline plugin demo ${file}`,
      },
    ]);
    expect(readFileSync(file, 'utf8')).not.toMatch(/: AgentPlugin|type AgentPlugin|: string/u);
  });

  it.each(PLUGIN_HOOK_NAMES.flatMap((event) => [[event, 'ts'] as const, [event, 'node'] as const]))(
    'writes one for %s in %s that works at once',
    async (event, lang) => {
      await make({ event, lang });
      const kebab = event.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
      const file = inRoot(`my-${kebab}.${lang === 'ts' ? 'ts' : 'js'}`);
      const text = readFileSync(file, 'utf8');
      expect(text).not.toMatch(/[«»]|\b(?:NAME|HOOK|TURNS|RUNS|DOES|EXTENSION)\b/u);
      const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
      onTestFinished(() => log.mockRestore());
      const host = await createPluginTestHost(file);
      onTestFinished(() => host.dispose());
      expect(host.contributions()).toMatchObject([{ state: 'ready', hooks: [event] }]);
      const { output } = await host.callTool('say_hello', { name: 'Ada' });
      expect(output).toEqual({ greeting: 'Hello, Ada!', root: host.workspace });
      expect(host.issues()).toEqual([]);
    },
  );

  it('writes hooks that do what they say', async () => {
    await make({});
    const host = await createPluginTestHost(inRoot('my-plugin.ts'));
    onTestFinished(() => host.dispose());
    const forced = { tool: 'run_commands', input: { commands: ['git push -f origin'] } };
    expect(await host.fire('beforeTool', forced)).toMatchObject({ effect: 'deny' });
    const plain = { tool: 'run_commands', input: { commands: ['git push origin'] } };
    expect(await host.fire('beforeTool', plain)).toMatchObject({ effect: 'pass' });
    await make({ event: 'PostToolUse' });
    const redacting = await createPluginTestHost(inRoot('my-after-tool.ts'));
    onTestFinished(() => redacting.dispose());
    const { requests } = await redacting.run('go', [
      { tools: [{ name: 'say_hello', input: { name: 'sk-0123456789abcdef0123' } }] },
      { text: 'Done.' },
    ]);
    const output = JSON.stringify(requests[1]?.messages.at(-1));
    expect(output).toContain('Hello, [a key]!');
  });

  it('writes a demo that runs without a network', async () => {
    await make({});
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    onTestFinished(() => log.mockRestore());
    const { runDemo } = await importDemo(inRoot('my-plugin.ts'));
    await runDemo();
    expect(log.mock.calls.flat()).toEqual([
      expect.stringMatching(/^run_commands: .*forced pushes are not allowed here: ask the user/u),
      expect.stringMatching(/^say_hello: \{"greeting":"Hello, Ada!"/u),
      'Done.',
    ]);
  });

  it('refuses what a plugin cannot have, and what exists already', async () => {
    expect(await refusal({ event: 'beforeTools' })).toEqual({
      code: 'EVENT_UNKNOWN',
      message: 'event "beforeTools" not found',
      hint: 'Did you mean beforeTool?',
    });
    expect(await refusal({ lang: 'bash' })).toMatchObject({
      code: 'USAGE_INVALID',
      message: '--lang should be ts or node for a plugin, found "bash"',
    });
    expect(await refusal({ matcher: 'Bash' })).toMatchObject({ code: 'USAGE_INVALID' });
    await make({});
    expect(await refusal({})).toMatchObject({ code: 'HOOK_EXISTS' });
    expect((await make({ force: true })).out).toHaveLength(1);
    expect(existsSync(inRoot('.my-plugin.ts.new'))).toBe(false);
  });
});

/** The plugin that a test exports beside its demo carries it along. */
async function importDemo(file: string): Promise<{ runDemo(): Promise<void> }> {
  const probe = path.join(workspace.home, 'probe.ts');
  const name = JSON.stringify(file);
  writeFileSync(
    probe,
    `import { runDemo } from ${name};\nexport default { name: 'probe', manifest: { capabilities: ['tools'] }, setup: () => runDemo() };\n`,
  );
  const plugin = await loadAgentPluginFromPath(probe);
  return { runDemo: async () => plugin.setup?.(Object.create(null), {}) };
}
