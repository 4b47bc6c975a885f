import { z } from 'zod';
import { claude } from '../../src/dialects/index.ts';
import { flag, text, textMap, texts } from './fields.ts';

const COMMON = {
  timeout: z.number().positive().describe('Time limit in seconds.').optional(),
  if: text(
    'A permission rule; the hook runs only for calls that it fits: "Bash(git *)".',
  ).optional(),
  statusMessage: text('What the user reads while it runs.').optional(),
  once: flag('Runs once; only in the front matter of a skill.').optional(),
  onFailure: z
    .enum(['continue', 'block'])
    .describe('What a failure of this hook means.')
    .optional(),
};

const HANDLER = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('command').describe('A program.'),
    command: text('A shell command, or a program when `args` is given.'),
    args: texts('Arguments; without a shell then.').optional(),
    shell: z.enum(['bash', 'powershell']).describe('The shell.').optional(),
    async: flag('Runs in the background.').optional(),
    asyncRewake: flag('In the background; exit code 2 wakes the agent.').optional(),
    ...COMMON,
  }),
  z.looseObject({
    type: z.literal('http').describe('A request.'),
    url: text('The payload is posted there.'),
    headers: textMap('Headers; `$NAME` is replaced for names in `allowedEnvVars`.').optional(),
    allowedEnvVars: texts('Variables that headers may contain.').optional(),
    ...COMMON,
  }),
  z.looseObject({
    type: z.literal('mcp_tool').describe('A tool of an MCP server.'),
    server: text('Name of the MCP server.'),
    tool: text('Name of its tool.'),
    input: z.record(z.string(), z.unknown()).describe('Input of the tool.').optional(),
    ...COMMON,
  }),
  ...(['prompt', 'agent'] as const).map((type) =>
    z.looseObject({
      type: z.literal(type).describe('A question to the model.'),
      prompt: text('The question; `$ARGUMENTS` is the payload.'),
      model: text('The model that answers.').optional(),
      continueOnBlock: flag('Go on although it blocks.').optional(),
      ...COMMON,
    }),
  ),
]);

export const HOOK_GROUP = z.looseObject({
  matcher: text('A tool, a list with |, or a regular expression; "" or "*" is all.').optional(),
  hooks: z.array(HANDLER).describe('What runs.'),
});

/** `.cline/hooks.json`, and the key `hooks` of Claude's settings files. */
export const HOOKS_JSON = z.looseObject({
  hooks: z
    .looseObject(
      Object.fromEntries(
        claude.events.names.map((name) => [
          name,
          z.array(HOOK_GROUP).describe(`Groups of ${name}.`).optional(),
        ]),
      ),
    )
    .describe('Groups of hooks by event.'),
  disableAllHooks: flag('True: no hook of this file’s level runs.').optional(),
});
