import type * as acp from '@agentclientprotocol/sdk';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import { awaitsTrust, type Verdict } from '../../hooks/decision.ts';
import type { LateOutcome } from '../../hooks/observers.ts';
import { quoted } from './content.ts';

/** Something that is said to the person beside what the agent says. */
export interface Aside {
  readonly severity: 'info' | 'warning' | 'error';
  readonly text: string;
  /** Whether a session need not hear it twice. */
  readonly isSaidOnce?: true;
}

/** A notice where the editor shows them; else a quotation among the agent's words, which all show. */
export function asideUpdate(
  { severity, text }: Aside,
  { notices }: { readonly notices: boolean },
): acp.SessionUpdate {
  if (notices) return { sessionUpdate: 'notice', severity, title: text };
  return {
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text: quoted(text) },
  };
}

/** What a person should hear of an event; hooks that ran and were content say nothing. */
export function asidesOf(event: RuntimeEvent): readonly Aside[] {
  switch (event.type) {
    case 'hook':
      return verdictAsides(event.verdict);
    case 'retry-start':
      return [{ severity: 'warning', text: `${event.failure.message} The model is asked again.` }];
    case 'notice':
      return event.level === 'info' ? [] : [{ severity: event.level, text: event.text }];
    case 'compaction-end':
      return event.summary === null
        ? []
        : [{ severity: 'info', text: 'The conversation so far was summed up.' }];
    default:
      return [];
  }
}

function verdictAsides({ event, outcomes, skipped, messages }: Verdict): readonly Aside[] {
  const withheld = skipped.filter(awaitsTrust);
  const failed = outcomes.flatMap(({ hook, failure }) =>
    failure === null ? [] : [`The hook ${hook} failed: ${failure.message}`],
  );
  return [
    ...withheld.map(({ hook, why }) => ({
      severity: 'warning' as const,
      text: `The hook ${hook} was not run: ${why}. \`hookline trust\` shows it and lets it run.`,
      isSaidOnce: true as const,
    })),
    ...failed.map((text) => ({ severity: 'warning' as const, text })),
    ...messages.map(({ hook, text }) => hookSays(event, hook, text)),
  ];
}

/** What a hook says from the background. */
export function lateAsides({ event, outcome: { hook, decision } }: LateOutcome): readonly Aside[] {
  const notice = decision?.notice;
  return notice === undefined ? [] : [hookSays(event.name, hook, notice)];
}

function hookSays(event: string, hook: string, text: string): Aside {
  return { severity: 'info', text: `${event} (${hook}) says: ${text}` };
}
