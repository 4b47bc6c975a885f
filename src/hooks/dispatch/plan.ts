import type { Skipped } from '../decision.ts';
import type { Handler, HandlerInput } from '../handler.ts';
import type { EventViews } from './views.ts';

/** What a handler is to be asked, or why it does not run at all. */
export type Plan = readonly HandlerInput[] | Skipped;

export function planHandler(handler: Handler, views: EventViews): Plan {
  const inputs: HandlerInput[] = [];
  let misfit: string | null = null;
  for (const { input, names } of views.in(handler.vocabulary)) {
    const why = handler.fits?.(input.event, names()) ?? null;
    if (why === null) inputs.push(input);
    else misfit ??= why;
  }
  if (inputs.length === 0) {
    return { hook: handler.id, kind: 'misfit', why: misfit ?? 'nothing here for it to look at' };
  }
  const why = handler.withheld?.() ?? null;
  return why === null ? inputs : { hook: handler.id, kind: 'withheld', why };
}
