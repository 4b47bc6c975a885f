import { formatScript } from '../../templates.ts';

/** The example plugin's hook for one of the seven events. */
export interface PluginExample {
  /** The canonical event. */
  readonly event: string | null;
  /** When the hook is called. */
  readonly runs: string;
  /** What the example does. */
  readonly does: string;
  /** The hook in the plugin's `hooks`; `TYPED(…)` is left out in JavaScript. */
  readonly hook: string;
  /** The first turns of the demo's model, as source code. */
  readonly demo: readonly string[];
}

export const PLUGIN_EXAMPLES = {
  beforeTool: {
    event: 'PreToolUse',
    runs: 'before every tool call',
    does: 'denies commands that force a push',
    hook: formatScript`
    beforeTool({ toolCall, input }) {
      const isForced = /git push[^"]*(?:--force|-f\b)/.test(JSON.stringify(input));
      if (toolCall.toolName !== 'run_commands' || !isForced) return undefined;
      return { skip: true, reason: 'forced pushes are not allowed here: ask the user' };
    },
`,
    demo: ["{ tools: [{ name: 'run_commands', input: { commands: ['git push --force'] } }] }"],
  },
  afterTool: {
    event: 'PostToolUse',
    runs: 'after every tool call',
    does: 'redacts keys in tool results',
    hook: formatScript`
    afterTool({ result }) {
      const text = JSON.stringify(result.output) ?? '';
      const clean = text.replaceAll(/\bsk-[\w-]{16,}/g, '[a key]');
      return clean === text ? undefined : { result: { ...result, output: JSON.parse(clean) } };
    },
`,
    demo: ["{ tools: [{ name: 'say_hello', input: { name: 'sk-0123456789abcdef0123' } }] }"],
  },
  beforeRun: {
    event: 'RunStart',
    runs: 'when a run begins',
    does: 'tells the model where it works',
    hook: formatScript`
    beforeRun() {
      return { appendContext: \`The workspace is \${sessionRoot ?? 'not known'}.\` };
    },
`,
    demo: [],
  },
  afterRun: {
    event: 'RunEnd',
    runs: 'when a run has ended, also after an error',
    does: 'says how it ended',
    hook: formatScript`
    afterRun({ result }) {
      say(\`run \${result.status} after \${result.iterations} turn(s)\`);
    },
`,
    demo: [],
  },
  beforeModel: {
    event: 'ModelRequest',
    runs: 'before every request to the model',
    does: 'asks for answers that vary less',
    hook: formatScript`
    beforeModel() {
      return { options: { temperature: 0 } };
    },
`,
    demo: [],
  },
  afterModel: {
    event: 'ModelResponse',
    runs: 'after every answer of the model, before its tools run',
    does: 'ends the run when an answer was cut off',
    hook: formatScript`
    afterModel({ finishReason }) {
      if (finishReason !== 'max-tokens') return undefined;
      return { stop: true, reason: 'the answer was cut off' };
    },
`,
    demo: [],
  },
  onEvent: {
    event: null,
    runs: 'at everything that happens in a run',
    does: 'says which tools are used',
    hook: formatScript`
    onEvent(event) {
      if (event.type === 'tool-started') say(\`uses \${event.toolCall.toolName}\`);
    },
`,
    demo: [],
  },
} as const satisfies Record<string, PluginExample>;

export type PluginHookName = keyof typeof PLUGIN_EXAMPLES;

export const PLUGIN_HOOK_NAMES: readonly PluginHookName[] =
  Object.keys(PLUGIN_EXAMPLES).filter(isPluginHookName);

function isPluginHookName(name: string): name is PluginHookName {
  return Object.hasOwn(PLUGIN_EXAMPLES, name);
}
