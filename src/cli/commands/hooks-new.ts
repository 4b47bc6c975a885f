import { HooklineError } from '../../base/errors.ts';
import { type Command, withHost } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import type { EventOptions, HookPlan, NewOptions } from './new/plan.ts';
import { reportNewHook } from './new/report.ts';

export type { NewOptions } from './new/plan.ts';

type PlanHook = (options: NewOptions) => HookPlan;

const PLANNERS = {
  cline: async () =>
    forEvent((await import('../../dialects/cline-files/templates/plan.ts')).planClineHook),
  claude: async () =>
    forEvent((await import('../../dialects/claude-config/templates/plan.ts')).planClaudeHook),
  plugin: async (): Promise<PlanHook> =>
    (await import('../../dialects/cline-plugin/templates/plan.ts')).planPlugin,
};

function forEvent(plan: (options: EventOptions) => HookPlan): PlanHook {
  return ({ event, ...options }) => {
    if (event !== undefined) return plan({ event, ...options });
    throw new HooklineError('USAGE_INVALID', {
      message: 'hooks new expects the event that the hook is for, found none',
      hint: 'Say for example: hookline hooks new PreToolUse. Only --dialect plugin needs none.',
    });
  };
}

/** `hookline hooks new EVENT`: writes an example that works at once. */
export const newHook: Command<NewOptions> = async (context, options) => {
  const planHook = await findPlanner(options.dialect ?? 'cline')();
  const make = planHook(options);
  return withHost(
    context,
    async (host) => {
      reportNewHook(context, await make(host));
      return EXIT.fine;
    },
    // Nothing runs here, and what is there must be seen even where hooks are switched off.
    { flags: { 'hooks.enabled': true } },
  );
};

function findPlanner(dialect: string): () => Promise<PlanHook> {
  if (isDialect(dialect)) return PLANNERS[dialect];
  const known = Object.keys(PLANNERS);
  throw new HooklineError('USAGE_INVALID', {
    message: `hooks of the dialect ${JSON.stringify(dialect)} cannot be made; known are: ${known.join(', ')}`,
    hint: 'Say --dialect cline, --dialect claude or --dialect plugin; without it, it is cline.',
  });
}

function isDialect(dialect: string): dialect is keyof typeof PLANNERS {
  return Object.hasOwn(PLANNERS, dialect);
}
