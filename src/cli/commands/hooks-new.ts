import { HooklineError } from '../../base/errors.ts';
import { type Command, withHost } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import type { HookPlan, NewOptions } from './new/plan.ts';
import { reportNewHook } from './new/report.ts';

export type { NewOptions } from './new/plan.ts';

type PlanHook = (options: NewOptions) => HookPlan;

const PLANNERS = {
  cline: async (): Promise<PlanHook> => (await import('./new/cline.ts')).planClineHook,
  claude: async (): Promise<PlanHook> => (await import('./new/claude.ts')).planClaudeHook,
};

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
  if (dialect === 'cline' || dialect === 'claude') return PLANNERS[dialect];
  const known = Object.keys(PLANNERS);
  throw new HooklineError('USAGE_INVALID', {
    message: `hooks of the dialect ${JSON.stringify(dialect)} cannot be made; known are: ${known.join(', ')}`,
    hint: 'Say --dialect cline or --dialect claude; without it, it is cline.',
  });
}
