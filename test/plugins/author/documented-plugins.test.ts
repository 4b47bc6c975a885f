import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ClineCore } from '../../../src/index.ts';
import {
  createPluginTestHost,
  type PluginTestHost,
  type PluginTestOptions,
} from '../../../src/testing.ts';
import { directoryWith, MODULES, sample } from './documented-plugins.ts';

/** A session with the plugins that lie in a directory, or in one file of it. */
async function open(
  files: Readonly<Record<string, string>>,
  { at = '', ...options }: PluginTestOptions & { readonly at?: string } = {},
): Promise<PluginTestHost> {
  const host = await createPluginTestHost(path.join(directoryWith(files), at), options);
  onTestFinished(() => host.dispose());
  return host;
}

function openModule(
  name: keyof typeof MODULES,
  options?: PluginTestOptions,
): Promise<PluginTestHost> {
  return open({ [name]: MODULES[name]() }, { at: name, ...options });
}

const ON_MAIN = { files: { '.git/HEAD': 'ref: refs/heads/main\n' } };
const PUSH = { tools: [{ name: 'run_commands', input: { commands: ['git push origin'] } }] };

describe('of Cline’s plugin documentation, verbatim,', () => {
  it('the smallest plugin has its tool called', async () => {
    const host = await openModule('smallest-plugin.ts');
    expect(await host.callTool('say_hello', { name: 'Ada' })).toMatchObject({
      name: 'say_hello',
      output: { greeting: 'Hello, Ada!' },
    });
    expect(host.issues()).toEqual([]);
  });

  it('the single-file template works, and its demo is not started by loading it', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    onTestFinished(() => log.mockRestore());
    const host = await openModule('single-file-template.ts');
    const { text, toolCalls } = await host.run("Use do_thing on the target 'world'.", [
      { tools: [{ name: 'do_thing', input: { target: 'world' } }] },
      { text: 'The thing is done.' },
    ]);
    expect(text).toBe('The thing is done.');
    expect(toolCalls[0]?.output).toEqual({ ok: true, target: 'world', root: host.workspace });
    expect(log.mock.calls).toEqual([
      ['[my-plugin] run started'],
      ['[my-plugin] done in 2 iteration(s)'],
    ]);
    expect(host.issues()).toEqual([]);
  });

  it('the package is found by its package.json, and laid out as documented', async () => {
    const files = {
      'my-cline-plugin/package.json': sample('package-json'),
      'my-cline-plugin/index.ts': sample('single-file-template'),
      'my-cline-plugin/README.md': '# My plugin\n',
      'my-cline-plugin/assets/templates/greeting.md': 'hello',
      'my-cline-plugin/assets/schemas/empty.json': '{}',
    };
    const documentedFiles = sample('package-layout').match(/[\w.-]+\/?(?=\n| \()/gu);
    expect(documentedFiles).toEqual([
      'my-cline-plugin/',
      'package.json',
      'tsconfig.json',
      'index.ts',
      'README.md',
      'assets/',
      'templates/',
      'schemas/',
    ]);
    const host = await open(files, { at: 'my-cline-plugin' });
    expect(host.contributions()).toMatchObject([
      { name: 'my-plugin', state: 'ready', capabilities: ['tools', 'hooks'] },
    ]);
  });

  it('bundled assets are found beside the module, not in the current directory', async () => {
    const host = await open(
      {
        'bundled-assets.ts': MODULES['bundled-assets.ts'](),
        'assets/templates/greeting.md': 'Hello from the package.',
      },
      { at: 'bundled-assets.ts' },
    );
    expect(await host.callTool('template')).toMatchObject({ output: 'Hello from the package.' });
  });

  it('the branch guard stops a push on main, with its reason, and only there', async () => {
    const guarded = await openModule('branch-guard.ts', ON_MAIN);
    const stopped = await guarded.run('push', [PUSH, { text: 'pushed' }]);
    expect(stopped).toMatchObject({
      finishReason: 'aborted',
      stopReason: expect.stringContaining('Blocked git push on protected branch'),
    });
    expect(stopped.requests).toHaveLength(1);
    const status = { tools: [{ name: 'run_commands', input: { commands: ['echo fine'] } }] };
    expect(await guarded.run('look', [status, { text: 'looked' }])).toMatchObject({
      finishReason: 'completed',
      text: 'looked',
    });
    const free = await openModule('branch-guard.ts', {
      files: { '.git/HEAD': 'ref: refs/heads/topic\n' },
    });
    expect(await free.run('push', [PUSH, { text: 'pushed' }])).toMatchObject({
      finishReason: 'completed',
    });
  });

  it('state that setup keeps is there when hooks run', async () => {
    const host = await openModule('state-across-hooks.ts', ON_MAIN);
    expect(await host.run('push', [PUSH, { text: 'done' }])).toMatchObject({ text: 'done' });
    expect(host.contributions()).toMatchObject([{ state: 'ready', hooks: ['beforeTool'] }]);
    expect(host.issues()).toEqual([]);
  });

  it('state by session is kept for each', async () => {
    const host = await openModule('state-by-session.ts');
    expect(host.contributions()).toMatchObject([{ name: 'sample', state: 'ready' }]);
    expect(host.issues()).toEqual([]);
  });

  it('the metrics plugin is called at each of its moments, and disturbs none', async () => {
    const host = await openModule('metrics.ts');
    const { text, events } = await host.run('go', [PUSH, { text: 'done' }]);
    expect(text).toBe('done');
    expect(events.at(-1)?.type).toBe('run-finished');
    expect(host.contributions()).toMatchObject([
      { hooks: ['beforeRun', 'beforeTool', 'afterTool', 'afterRun', 'onEvent'] },
    ]);
    expect(host.issues()).toEqual([]);
  });

  it('afterRun that acts on success only is no failure for other endings', async () => {
    const host = await openModule('after-run.ts');
    expect(await host.run('go')).toMatchObject({ finishReason: 'completed' });
    expect(await host.run('go', [])).toMatchObject({ finishReason: 'error' });
    expect(host.issues()).toEqual([]);
  });

  it('the message builder leaves short conversations alone and replaces long ones', async () => {
    const host = await openModule('message-builder.ts');
    const texts = async (prompt: string): Promise<readonly string[]> => {
      const { requests } = await host.run(prompt);
      return (requests[0]?.messages ?? []).map(({ content }) => JSON.stringify(content));
    };
    expect(await texts('short')).toEqual([expect.stringContaining('short')]);
    expect(await texts('long '.repeat(200))).toEqual([
      expect.stringContaining('prefix'),
      expect.stringContaining('summary'),
      expect.stringContaining('recent'),
    ]);
  });

  it('the automation event is declared, and sent where there is automation', async () => {
    const events: unknown[] = [];
    const host = await openModule('automation-event.ts', {
      context: { automation: { ingestEvent: (event) => void events.push(event) } },
    });
    expect(host.contributions()).toMatchObject([
      {
        automationEventTypes: [
          {
            eventType: 'github.pull_request.opened',
            source: 'github',
            description: 'A new GitHub PR was opened',
            attributesSchema: {},
          },
        ],
      },
    ]);
    expect(events).toMatchObject([
      {
        eventId: 'pr-1234',
        eventType: 'github.pull_request.opened',
        source: 'github',
        subject: 'owner/repo#1234',
        occurredAt: expect.stringMatching(/^\d{4}-/u),
        attributes: {},
      },
    ]);
    const without = await openModule('automation-event.ts');
    expect(without.issues()).toEqual([]);
  });

  it('pluginPaths names a package, from where the session works', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    onTestFinished(() => log.mockRestore());
    const [named = ''] = sample('plugin-paths').match(/(?<=").+(?=")/u) ?? [];
    const cwd = directoryWith({
      [`${named}/package.json`]: sample('package-json'),
      [`${named}/index.ts`]: sample('single-file-template'),
    });
    vi.stubEnv('HOME', directoryWith({}));
    onTestFinished(() => void vi.unstubAllEnvs());
    const core = await ClineCore.create({ backendMode: 'local' });
    onTestFinished(() => core.dispose());
    const script = [
      { tools: [{ name: 'do_thing', input: { target: 'world' } }] },
      { text: 'The thing is done.' },
    ];
    // What lies in the workspace needs trust, also where a program names it.
    const model = { providerId: 'scripted', modelId: 'x', script };
    const config = { ...model, cwd, pluginPaths: [named], trust: 'all' as const };
    const { result } = await core.start({ config, prompt: 'Do it.' });
    expect(result?.toolCalls).toMatchObject([{ output: { ok: true, target: 'world', root: cwd } }]);
    expect(result?.text).toBe('The thing is done.');
  });

  it('a package with two entries is two plugins', async () => {
    const host = await open({
      'package.json': `{ "name": "two", "type": "module",\n${sample('multiple-entries')}}\n`,
      'tools-plugin.ts': sample('smallest-plugin'),
      'hooks-plugin.ts': MODULES['metrics.ts'](),
    });
    const outputs = host
      .contributions()
      .map(({ name, tools, hooks }) => [name, tools.length, hooks.length]);
    expect(outputs.toSorted()).toEqual([
      ['hello-plugin', 1, 0],
      ['metrics', 0, 5],
    ]);
  });

  it('the unit test gathers the tools of a plugin without a host', async () => {
    const probe =
      'export default { name: "probe", manifest: { capabilities: ["tools"] }, setup(api) { tools.forEach(api.registerTool) } }\n';
    const host = await open(
      {
        'my-plugin.ts': sample('smallest-plugin'),
        'test/unit.ts': `${sample('unit-test')}${probe}`,
      },
      { at: 'test/unit.ts' },
    );
    expect(await host.callTool('say_hello', { name: 'Ada' })).toMatchObject({
      output: { greeting: 'Hello, Ada!' },
    });
  });
});
