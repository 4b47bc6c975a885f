import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AgentPlugin } from '../../../../src/plugins/contract/plugin.ts';
import { createDiskFixture } from '../disk-fixture.ts';
import {
  answers,
  call,
  createSdkFixture,
  DONE,
  hooksOf,
  type SdkFixture,
  toolPlugin,
} from '../sdk-fixture.ts';

/** Cline hands hooks the very input that is run. */
function changing(text: string): string {
  return `export default { name: 'changing', manifest: { capabilities: ['hooks', 'tools'] },
    setup: (api) => api.registerTool({ name: 'say', description: '', inputSchema: { type: 'object' },
      execute: ({ text }) => text }),
    hooks: { beforeTool({ input }) { ${text} } } };`;
}

/** A plugin whose beforeTool changes the input that it receives in this way. */
function assigning(fields: object, name = 'assigning'): AgentPlugin {
  return hooksOf({ beforeTool: ({ input }) => void Object.assign(input as object, fields) }, name);
}

const sayTool = toolPlugin('say', ({ text }) => `said ${String(text)}`);

async function runSayTool(...extensions: AgentPlugin[]): Promise<SdkFixture> {
  const fixture = await createSdkFixture([call('say', { text: 'meant' }), DONE]);
  await fixture.start({ extensions: [sayTool, ...extensions] });
  return fixture;
}

describe('a beforeTool hook that changes the input in place', () => {
  test.each(['none', 'process'] as const)(
    'changes what its own tool is given; isolation: %s',
    async (pluginIsolation) => {
      const fixture = await createDiskFixture([call('say', { text: 'meant' }), DONE], {
        '.cline/plugins/changing.mjs': changing(`input.text = 'changed';`),
      });
      await fixture.start({ pluginIsolation });
      expect(answers(fixture)).toEqual(['changed']);
    },
  );

  test('changes what a tool of the host is given, also when it is not the last hook', async () => {
    const fixture = await createSdkFixture([
      call('run_commands', { commands: ['echo meant'] }),
      DONE,
    ]);
    const looking = hooksOf({ beforeTool: () => undefined }, 'looking');
    const commands = ['echo changed'];
    await fixture.start({ extensions: [assigning({ commands }), looking] });
    expect(answers(fixture).join()).toContain('changed');
  });

  test('changes it in the vocabulary of the call, whatever the vocabulary of the hook', async () => {
    const fixture = await createSdkFixture([call('Bash', { command: 'echo meant' }), DONE]);
    const commands = ['echo changed'];
    await fixture.start({ extensions: [assigning({ commands })] });
    expect(answers(fixture).join()).toContain('changed');
  });

  test('is asked once, and changes it once', async () => {
    const records: unknown[] = [];
    const adding = hooksOf({
      beforeTool({ input }) {
        const fields = input as { text: string };
        records.push(fields.text);
        fields.text += '!';
        return { appendContext: 'made it louder' };
      },
    });
    const fixture = await runSayTool(adding);
    expect(records).toEqual(['meant']);
    expect(answers(fixture)).toEqual(['said meant!']);
    const report = JSON.stringify(fixture.service.requests().at(-1));
    expect(report.split('made it louder').length - 1).toBe(1);
  });

  test('may be followed by one that returns a further change', async () => {
    const returning = hooksOf(
      {
        beforeTool: ({ input }) => ({ input: { text: `${Object(input)['text']}, then returned` } }),
      },
      'returning',
    );
    const fixture = await runSayTool(assigning({ text: 'changed' }), returning);
    expect(answers(fixture)).toEqual(['said changed, then returned']);
  });

  test('may follow one that returned another input', async () => {
    const returning = hooksOf({ beforeTool: () => ({ input: { text: 'returned' } }) }, 'returning');
    const adding = hooksOf({
      beforeTool: ({ input }) =>
        void Object.assign(input as object, { text: `${Object(input)['text']}, then changed` }),
    });
    const fixture = await runSayTool(returning, adding);
    expect(answers(fixture)).toEqual(['said returned, then changed']);
  });

  test('counts although the hook after it fails', async () => {
    const failing = hooksOf(
      {
        beforeTool() {
          throw new Error('broken');
        },
      },
      'failing',
    );
    const fixture = await runSayTool(assigning({ text: 'changed' }), failing);
    expect(answers(fixture)).toEqual(['said changed']);
  });

  test('is not asked about arguments that are nested too deep, which are an error for the model', async () => {
    const deep: unknown = JSON.parse('['.repeat(1200) + ']'.repeat(1200));
    const fixture = await createSdkFixture([call('say', { text: 'meant', deep }), DONE]);
    await fixture.start({ extensions: [sayTool, assigning({ text: 'changed' })] });
    expect(answers(fixture)).toEqual(['The arguments of say are nested deeper than 1000 levels.']);
  });

  test('leaves the call as the model made it in the conversation', async () => {
    const fixture = await createSdkFixture([call('say', { text: 'meant' }), DONE]);
    const extensions = [sayTool, assigning({ text: 'changed' })];
    const { sessionId } = await fixture.start({ extensions });
    const conversation = JSON.stringify(await fixture.core.readMessages(sessionId));
    expect(conversation).toContain('"text":"meant"');
    expect(conversation).not.toContain('"text":"changed"');
  });
});

describe('an input that was changed in place', () => {
  test('is checked again by plugins', async () => {
    const records: unknown[] = [];
    const guarding = hooksOf(
      {
        beforeTool({ input }) {
          records.push(structuredClone(input));
          return JSON.stringify(input).includes('changed')
            ? { skip: true, reason: 'not that' }
            : undefined;
        },
      },
      'guarding',
    );
    const fixture = await runSayTool(guarding, assigning({ text: 'changed' }));
    expect(records).toEqual([{ text: 'meant' }, { text: 'changed' }]);
    expect(answers(fixture).join()).toContain('not that');
  });

  test('is checked again by programs', async () => {
    const fixture = await createSdkFixture([
      call('run_commands', { commands: ['echo meant'] }),
      DONE,
    ]);
    const hooks = path.join(fixture.home, 'Documents', 'Cline', 'Hooks');
    mkdirSync(hooks, { recursive: true });
    const guard = `#!/bin/sh\ncase "$(cat)" in *changed*) echo '{"cancel":true,"errorMessage":"not that"}';; *) echo '{}';; esac\n`;
    writeFileSync(path.join(hooks, 'PreToolUse'), guard, { mode: 0o755 });
    await fixture.start({ extensions: [assigning({ commands: ['echo changed'] })] });
    expect(answers(fixture).join()).toContain('not that');
  });

  test('runs as all hooks saw it, whatever a hook does later to the object that it still holds', async () => {
    const inHand: { text: string }[] = [];
    const keeping = hooksOf({
      beforeTool({ input }) {
        const fields = input as { text: string };
        if (inHand.length === 0) fields.text = 'changed';
        for (const input of inHand) input.text = 'unseen';
        inHand.push(fields);
      },
    });
    const fixture = await runSayTool(keeping);
    expect(answers(fixture)).toEqual(['said changed']);
  });

  test('may hold values that cannot be copied', async () => {
    const records: unknown[] = [];
    const looking = hooksOf(
      { beforeTool: ({ input }) => void records.push(Object(input)['text']) },
      'looking',
    );
    const fixture = await runSayTool(
      looking,
      assigning({ text: 'changed', again: () => 'changed' }),
    );
    expect(records).toEqual(['meant', 'changed']);
    expect(answers(fixture)).toEqual(['said changed']);
  });

  test('must be an input that the tool accepts', async () => {
    const fixture = await createSdkFixture([
      call('run_commands', { commands: ['echo meant'] }),
      DONE,
    ]);
    await fixture.start({ extensions: [assigning({ commands: 7 })] });
    const answer = answers(fixture).join();
    expect(answer).not.toContain('meant\\n');
    expect(answer).toContain('commands');
  });

  test.each([
    ['a property that throws', { enumerable: true, get: () => JSON.parse('none') }],
    ['a big integer', { enumerable: true, value: 5n }],
  ])(
    'stays as it was with %s in it, with a warning, and all others are asked',
    async (_, property) => {
      const fixture = await createSdkFixture([call('say', { text: 'meant' }), DONE]);
      const changing = hooksOf(
        {
          beforeTool: ({ input }) =>
            void Object.defineProperty(input as object, 'more', property as PropertyDescriptor),
        },
        'changing',
      );
      const { result } = await fixture.start({ extensions: [sayTool, changing] });
      expect(answers(fixture)).toEqual(['said meant']);
      expect(result?.finishReason).toBe('completed');
      const notices = fixture
        .agentEvents()
        .flatMap((told) => (told.type === 'notice' ? [told.message] : []));
      expect(notices.join()).toMatch(
        /plugin:changing:beforeTool.*a value that cannot be written as JSON/u,
      );
    },
  );

  test('is what hooks saw, whatever is done to it later', async () => {
    let inHand: { text?: string } | null = null;
    const late = hooksOf({
      beforeTool({ input }) {
        inHand ??= input as object;
        inHand.text = inHand.text === 'meant' ? 'changed' : 'changed too late';
      },
    });
    expect(answers(await runSayTool(late))).toEqual(['said changed']);
  });

  test('is undone by a hook that returns the input as it was', async () => {
    const undoing = hooksOf({ beforeTool: () => ({ input: { text: 'meant' } }) }, 'undoing');
    expect(answers(await runSayTool(assigning({ text: 'changed' }), undoing))).toEqual([
      'said meant',
    ]);
  });

  test('denies the call where a hook must not fail, when it cannot be used', async () => {
    const fixture = await createSdkFixture([call('say', { text: 'meant' }), DONE]);
    await fixture.start({ hookErrorMode: 'throw', extensions: [sayTool, assigning({ more: 5n })] });
    expect(answers(fixture).join()).toContain('a value that cannot be written as JSON');
  });

  test('is one part of a call that has several', async () => {
    const edits = ['one', 'two'].map((old_string) => ({ old_string, new_string: '' }));
    const fixture = await createSdkFixture([
      call('Read', { file_path: 'a.txt' }),
      call('MultiEdit', { file_path: 'a.txt', edits }),
      DONE,
    ]);
    const file = path.join(fixture.workspace, 'a.txt');
    writeFileSync(file, 'one two');
    const changing = hooksOf({
      async beforeTool({ input }) {
        await Promise.resolve();
        const fields = Object(input);
        if (fields['old_text'] === 'two') fields['new_text'] = '2';
        return undefined;
      },
    });
    await fixture.start({ extensions: [changing] });
    expect(readFileSync(file, 'utf8')).toBe(' 2');
  });

  test('counts in a sub-agent, too', async () => {
    const fixture = await createSdkFixture([
      call('spawn_agent', { systemPrompt: 'Help.', task: 'say it' }),
      call('say', { text: 'meant' }),
      DONE,
      DONE,
    ]);
    const events: unknown[] = [];
    const recordingTool = toolPlugin('say', ({ text }) => void events.push(text));
    const extensions = [recordingTool, assigning({ text: 'changed' })];
    await fixture.start({ enableSpawnAgent: true, extensions });
    expect(events).toEqual(['changed']);
  });
});
