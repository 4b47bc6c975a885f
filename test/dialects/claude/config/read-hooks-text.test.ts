import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type HooksShape,
  readHooksText,
} from '../../../../src/dialects/claude/config/read-hooks-text.ts';
import type { Source, SourceKind } from '../../../../src/dialects/claude/entry.ts';

function sourceOf(kind: SourceKind): Source {
  return {
    kind,
    label: kind,
    file: `/w/${kind}.json`,
    place: 'home',
    root: null,
    isCline: false,
    family: 'settings',
    plugin: null,
  };
}

const USER = sourceOf('user');

function read(value: unknown, shape: HooksShape = 'settings') {
  return readHooksText(JSON.stringify(value, null, 2), USER, shape);
}

function command(name: string, rest: object = {}): object {
  return { type: 'command', command: name, ...rest };
}

function group(...handlers: unknown[]): object {
  return { matcher: 'Bash', hooks: handlers };
}

/** What runs and what is reported, as a short summary. */
function summary(value: unknown, shape: HooksShape = 'settings') {
  const { entries, broken, ignored } = read(value, shape);
  return {
    runs: entries.map(
      (entry) => `${entry.event} ${'command' in entry ? entry.command : entry.type}`,
    ),
    broken: broken.map(({ event, line, why }) => `${event} ${line}: ${why}`),
    ignored: ignored.map(({ line, why }) => `${line}: ${why}`),
  };
}

describe('a settings text', () => {
  test('gives each handler with all that its group says', () => {
    const { entries, broken, ignored } = read({
      hooks: {
        PreToolUse: [
          {
            matcher: 'Edit|Write',
            hooks: [
              command('check.sh', {
                args: [],
                if: 'Write(*.ts)',
                timeout: 5,
                shell: 'bash',
                async: true,
                asyncRewake: true,
                rewakeMessage: 'look:',
                rewakeSummary: 'found',
                cloud: true,
                statusMessage: 'checking',
                onFailure: 'block',
              }),
            ],
          },
        ],
      },
    });
    expect({ entries, broken, ignored }).toEqual({
      entries: [
        {
          type: 'command',
          event: 'PreToolUse',
          matcher: 'Edit|Write',
          condition: 'Write(*.ts)',
          command: 'check.sh',
          args: [],
          shell: 'bash',
          async: true,
          asyncRewake: true,
          rewakeMessage: 'look:',
          rewakeSummary: 'found',
          timeoutMs: 5000,
          statusMessage: 'checking',
          once: false,
          onFailure: 'block',
          source: USER,
          line: 7,
          text: '{"event":"PreToolUse","handler":{"args":[],"async":true,"asyncRewake":true,"cloud":true,"command":"check.sh","if":"Write(*.ts)","onFailure":"block","rewakeMessage":"look:","rewakeSummary":"found","shell":"bash","statusMessage":"checking","timeout":5,"type":"command"},"matcher":"Edit|Write","source":"user"}',
          notes: [],
          mistakes: [],
        },
      ],
      broken: [],
      ignored: [],
    });
  });

  test('gives the other types with their fields', () => {
    const { entries } = read({
      hooks: {
        Stop: [
          {
            hooks: [
              { type: 'http', url: 'https://x/', headers: { a: 'b' }, allowedEnvVars: ['T'] },
              { type: 'mcp_tool', server: 's', tool: 't', input: { a: [1] } },
              { type: 'prompt', prompt: 'ok?', model: 'm', continueOnBlock: true },
              { type: 'agent', prompt: 'ok?', onFailure: 'block' },
            ],
          },
        ],
      },
    });
    expect(entries).toMatchObject([
      { url: 'https://x/', headers: { a: 'b' }, allowedEnvVars: ['T'], timeoutMs: null },
      { server: 's', tool: 't', input: { a: [1] } },
      { prompt: 'ok?', model: 'm', continueOnBlock: true, timeoutMs: null },
      { prompt: 'ok?', model: null, continueOnBlock: false, timeoutMs: null, onFailure: 'block' },
    ]);
  });

  test('may have comments, trailing commas, CRLF and a byte-order mark', () => {
    const text =
      '\uFEFF// mine\r\n{\r\n  "hooks": { /* here */\r\n    "Stop": [{ "hooks": [\r\n      {"type": "command", "command": "a"},\r\n    ], }],\r\n  },\r\n}\r\n';
    const { entries, broken } = readHooksText(text, USER, 'settings');
    expect(broken).toEqual([]);
    expect(entries).toMatchObject([{ command: 'a', line: 5 }]);
  });

  test('that is no JSON is one broken entry with the line of the fault', () => {
    const why = (text: string) =>
      readHooksText(text, USER, 'settings').broken.map((each) => [each.event, each.line, each.why]);
    expect(why('{\n  "hooks": {\n    nonsense\n  }\n}')).toEqual([
      [null, 3, 'expected JSON, found "n" at column 5 (missing quotes around nonsense)'],
    ]);
    expect(why('{"hooks": {')).toMatchObject([
      [null, 1, expect.stringContaining('the end of the file')],
    ]);
    expect(why('[]')).toEqual([[null, 1, 'expected an object with "hooks", found array']]);
    expect(why('['.repeat(200_000))).toEqual([
      [null, 1, 'expected at most 1000 levels of nesting, found more'],
    ]);
  });

  test('keeps other settings for other readers', () => {
    const { settings, entries } = read({ disableAllHooks: true });
    expect(entries).toEqual([]);
    expect(settings.get('disableAllHooks')).toMatchObject({ value: true, line: 2 });
  });

  test('with a key twice counts the last one and says so', () => {
    const text = `{"hooks": {\n"Stop": [{"hooks": [{"type":"command","command":"a"}]}],\n"Stop": [{"hooks": [{"type":"command","command":"b"}]}]}}`;
    const { entries, ignored } = readHooksText(text, USER, 'settings');
    expect(entries).toMatchObject([{ command: 'b' }]);
    expect(ignored).toEqual([
      {
        line: 3,
        why: '"Stop" appears more than once: only the last one counts; merge them',
        mayHideGate: true,
      },
    ]);
  });
});

describe('invalid entries, each beside one that runs', () => {
  const stop = { Stop: [{ hooks: [command('STOP')] }] };
  const cases: Record<string, [object, ReturnType<typeof summary>]> = {
    unknown_event: [
      { ...stop, FooEvent: [group(command('x'))] },
      {
        runs: ['Stop STOP'],
        broken: [],
        ignored: ['13: event "FooEvent" not found, so its entries never run'],
      },
    ],
    lower: [
      { ...stop, pretooluse: [group(command('x'))] },
      {
        runs: ['Stop STOP'],
        broken: [],
        ignored: [
          '13: event "pretooluse" not found, so its entries never run; did you mean PreToolUse?',
        ],
      },
    ],
    pre_badtype: [
      { ...stop, PreToolUse: [group(command('preok'), { type: 'foo' })] },
      {
        runs: ['Stop STOP', 'PreToolUse preok'],
        broken: [
          'PreToolUse 22: "type": expected "command" or "http" or "mcp_tool" or "prompt" or "agent", found the string "foo"',
        ],
        ignored: [],
      },
    ],
    post_badmatcher: [
      { ...stop, PostToolUse: [{ matcher: 5, hooks: [command('x')] }, group(command('postok'))] },
      {
        runs: ['Stop STOP', 'PostToolUse postok'],
        broken: ['PostToolUse 15: "matcher": expected a string, found number 5'],
        ignored: [],
      },
    ],
    post_flat: [
      { ...stop, PostToolUse: [command('flat'), group(command('postok'))] },
      {
        runs: ['Stop STOP', 'PostToolUse postok'],
        broken: [
          'PostToolUse 14: "hooks": expected an array of handlers, found a handler without a group around it; write {"hooks": [ … ]} around it',
        ],
        ignored: [],
      },
    ],
    pre_event_obj: [
      { ...stop, PreToolUse: group(command('x')) },
      {
        runs: ['Stop STOP'],
        broken: ['PreToolUse 13: "PreToolUse": expected an array of matcher groups, found object'],
        ignored: [],
      },
    ],
    pre_extra: [
      { ...stop, PreToolUse: [{ ...group(command('preok', { colour: 1 })), note: 'x' }] },
      { runs: ['Stop STOP', 'PreToolUse preok'], broken: [], ignored: [] },
    ],
    pre_emptycmd: [
      { ...stop, PreToolUse: [group(command('preok'), command(''))] },
      { runs: ['Stop STOP', 'PreToolUse preok', 'PreToolUse '], broken: [], ignored: [] },
    ],
    pre_emptyhooks: [
      { ...stop, PreToolUse: [group(), group(command('preok'))] },
      { runs: ['Stop STOP', 'PreToolUse preok'], broken: [], ignored: [] },
    ],
    pre_big: [
      { ...stop, PreToolUse: [group(command('preok', { timeout: 600_000 }))] },
      { runs: ['Stop STOP', 'PreToolUse preok'], broken: [], ignored: [] },
    ],
  };
  test.each(Object.entries(cases))('%s', (_name, [hooks, expected]) => {
    expect(summary({ hooks })).toEqual(expected);
  });

  test('hooks_array', () => {
    expect(summary({ hooks: [] }).broken).toEqual([
      'null 2: "hooks": expected an object of events, found array',
    ]);
  });

  test.each([
    [{ type: 'command' }, '"command": expected a string, found nothing'],
    [
      command('x', { timeout: '5' }),
      '"timeout": expected a number of seconds above 0, found the string "5"',
    ],
    [
      command('x', { timeout: 0 }),
      '"timeout": expected a number of seconds above 0, found number 0',
    ],
    [
      command('x', { timeout: -1 }),
      '"timeout": expected a number of seconds above 0, found number -1',
    ],
    [
      command('x', { shell: 'zsh' }),
      '"shell": expected "bash" or "powershell", found the string "zsh"',
    ],
    [command('x', { args: 'a' }), '"args": expected an array of strings, found the string "a"'],
    [command('x', { args: [1] }), '"args": expected an array of strings, found array'],
    [
      command('x', { onFailure: 'deny' }),
      '"onFailure": expected "continue" or "block", found the string "deny"',
    ],
    [command('x', { async: 'yes' }), '"async": expected true or false, found the string "yes"'],
    [
      command('x', { if: 1, once: 2 }),
      '"once": expected true or false, found number 2; "if": expected a string, found number 1',
    ],
    [{ type: 'http' }, '"url": expected a string, found nothing'],
    [{ type: 'mcp_tool', tool: 't' }, '"server": expected a string, found nothing'],
    [{ type: 'prompt', prompt: 3 }, '"prompt": expected a string, found number 3'],
    ['x', 'expected a handler such as {"type": "command", "command": "…"}, found the string "x"'],
    [null, 'expected a handler such as {"type": "command", "command": "…"}, found null'],
  ])('%j', (handler, why) => {
    const { entries, broken } = read({ hooks: { PreToolUse: [group(handler, command('ok'))] } });
    expect(entries).toMatchObject([{ command: 'ok' }]);
    expect(broken.map((each) => [each.event, each.why])).toEqual([['PreToolUse', why]]);
  });

  test.each([
    ['SessionStart', 'http', 'command, mcp_tool'],
    ['Setup', 'prompt', 'command, mcp_tool'],
    ['Notification', 'agent', 'command, http, mcp_tool'],
  ])('%s rejects handlers of type %s', (event, type, taken) => {
    const handler = { type, url: 'https://x/', prompt: 'p' };
    expect(read({ hooks: { [event]: [{ hooks: [handler] }] } }).broken).toMatchObject([
      {
        event,
        why: `"type": ${event} takes handlers of type ${taken} only, found "${type}"; write it as a command`,
      },
    ]);
  });
});

describe('small rules', () => {
  test('an empty condition is none', () => {
    const [entry] = read({ hooks: { PreToolUse: [group(command('x', { if: '' }))] } }).entries;
    expect(entry?.condition).toBeUndefined();
  });

  test('once counts only in a skill', () => {
    const text = JSON.stringify({ Stop: [{ hooks: [command('x', { once: true })] }] });
    const onceIn = (kind: SourceKind) => readHooksText(text, sourceOf(kind), 'inline').entries;
    expect(onceIn('skill')).toMatchObject([{ once: true, notes: [] }]);
    expect(onceIn('user')).toMatchObject([
      {
        once: false,
        notes: ['"once" applies only in the front matter of a skill; this runs every time'],
      },
    ]);
  });
});

describe('a plugin text', () => {
  test('needs the wrapper', () => {
    expect(summary({ description: 'x' }, 'plugin').broken).toEqual([
      'null 1: "hooks": expected an object, found nothing',
    ]);
    expect(summary({ hooks: { Stop: [{ hooks: [command('x')] }] } }, 'plugin').runs).toEqual([
      'Stop x',
    ]);
  });

  test.each(['plugin', 'settings'] as const)('reports events outside of it, in %s', (shape) => {
    const outside =
      '"PreToolUse" is outside the "hooks" object and not read; write {"hooks": {"PreToolUse": [ … ]}}';
    expect(summary({ PreToolUse: [group(command('x'))] }, shape)).toEqual({
      runs: [],
      broken: [`PreToolUse 2: ${outside}`],
      ignored: [],
    });
  });
});

describe('the digest that trust binds', () => {
  const base = { hooks: { PreToolUse: [group(command('x', { timeout: 5 }))] } };
  const textOf = (value: object, space?: number, source = USER) =>
    readHooksText(JSON.stringify(value, null, space), source, 'settings').entries[0]?.text;

  test('stays the same under another layout and beside other settings', () => {
    const moved = {
      model: 'y',
      hooks: {
        Stop: [],
        PreToolUse: [{ hooks: [{ timeout: 5, command: 'x', type: 'command' }], matcher: 'Bash' }],
      },
    };
    expect(textOf(moved, 4)).toBe(textOf(base));
  });

  test('changes with every field of the entry, its matcher and its source', () => {
    const variants = [
      textOf(base),
      textOf({ hooks: { PostToolUse: base.hooks.PreToolUse } }),
      textOf({ hooks: { PreToolUse: [{ hooks: [command('x', { timeout: 5 })] }] } }),
      textOf({ hooks: { PreToolUse: [group(command('x', { timeout: 6 }))] } }),
      textOf({ hooks: { PreToolUse: [group(command('x', { timeout: 5, unknown: 1 }))] } }),
      textOf(base, 0, sourceOf('project')),
      textOf(base, 0, { ...USER, isCline: true }),
    ];
    expect(new Set(variants).size).toBe(variants.length);
  });
});

describe('any text', () => {
  test('is read without throwing, and every handler is an entry or broken', () => {
    const handler = fc.oneof(
      fc.jsonValue(),
      fc.record({ type: fc.constant('command'), command: fc.string() }),
    );
    const events = fc.dictionary(
      fc.constantFrom('PreToolUse', 'Stop', 'Nope', '__proto__'),
      fc.array(fc.record({ hooks: fc.array(handler) })),
    );
    fc.assert(
      fc.property(events, fc.constantFrom(0, 2), (hooks, space) => {
        const { entries, broken } = readHooksText(
          JSON.stringify({ hooks }, null, space),
          USER,
          'settings',
        );
        const knownEvents = Object.entries(hooks).filter(
          ([name]) => name === 'PreToolUse' || name === 'Stop',
        );
        const handlers = knownEvents.flatMap(([, groups]) => groups.flatMap((each) => each.hooks));
        expect(entries.length + broken.length).toBe(handlers.length);
      }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        for (const shape of ['settings', 'plugin', 'inline'] as const) {
          readHooksText(text, USER, shape);
        }
      }),
    );
  });
});
