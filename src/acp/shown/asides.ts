import type * as acp from '@agentclientprotocol/sdk';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import { awaitsTrust, type Verdict } from '../../hooks/decision.ts';
import { quoted } from './content.ts';

/** Something that is said to the person beside what the agent says. */
export interface Aside {
  readonly severity: 'info' | 'warning' | 'error';
  readonly text: string;
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
    })),
    ...failed.map((text) => ({ severity: 'warning' as const, text })),
    ...messages.map(({ hook, text }) => ({
      severity: 'info' as const,
      text: `${event} (${hook}) says: ${text}`,
    })),
  ];
}
