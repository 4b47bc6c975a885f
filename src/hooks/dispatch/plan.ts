import type { Handler, HandlerInput } from '../handler.ts';
import type { EventViews } from './views.ts';

/** What the handler is to be asked, or why it does not run at all. */
export function planHandler(handler: Handler, views: EventViews): readonly HandlerInput[] | string {
  const inputs: HandlerInput[] = [];
  let misfit: string | null = null;
  for (const { input, names } of views.in(handler.vocabulary)) {
    const why = handler.fits?.(input.event, names()) ?? null;
    if (why === null) inputs.push(input);
    else misfit ??= why;
  }
  if (inputs.length === 0) return misfit ?? 'nothing here for it to look at';
  return handler.withheld?.() ?? inputs;
}
