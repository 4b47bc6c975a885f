import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { ModelRequest } from '../../../agent/models/model.ts';
import type { RunResult, RuntimeEvent } from '../../../agent/runtime-event.ts';
import { isRefusal } from '../../../hooks/decision.ts';
import type { PluginStatus } from '../../../plugins/registry.ts';
import { CUSTOMER } from './fixture.ts';

/** The results of the demo run. */
export interface DemoResult {
  readonly result: RunResult | null;
  readonly events: readonly RuntimeEvent[];
  readonly requests: readonly ModelRequest[];
  readonly plugins: readonly PluginStatus[];
  readonly transcript: string;
  readonly workspace: string;
}

export interface Claim {
  readonly claim: string;
  readonly holds: (finished: DemoResult) => boolean;
}

/** The demo fails unless every claim holds. */
export const CLAIMS: readonly Claim[] = [
  {
    claim: 'the Cline file hook kept app.js from being written, and the model was told why',
    holds: ({ workspace, requests }) =>
      !existsSync(path.join(workspace, 'app.js')) &&
      wasSent(requests, 'This project is written in TypeScript'),
  },
  {
    claim: 'the Claude formatter changed app.ts on the disk after the agent wrote it',
    holds: ({ workspace }) =>
      readFileSync(path.join(workspace, 'app.ts'), 'utf8') === 'export default 42;\n',
  },
  {
    claim: 'the push was refused once, with the reasons of the Claude guard and of the plugin',
    holds: ({ events: news }) => news.some(isRefusedByBoth),
  },
  {
    claim: 'the plugin’s tool ran, and the model got its answer',
    holds: ({ requests }) => wasSent(requests, '{\\"words\\":4}'),
  },
  {
    claim: 'the plugin’s message builder kept the customer’s number from the model, not from you',
    holds: ({ requests, transcript }) =>
      requests.length > 0 && !wasSent(requests, CUSTOMER) && transcript.includes(CUSTOMER),
  },
  {
    claim: 'the Stop hook sent the agent back once, and it ran the check',
    holds: ({ events: news, requests }) =>
      news.filter(isSentBack).length === 1 && wasSent(requests, 'the check passes'),
  },
  {
    claim: 'the plugin was loaded unchanged and is well',
    holds: ({ plugins }) => plugins.length === 1 && plugins[0]?.state === 'ready',
  },
  {
    claim: 'the agent was done, and all that was said is in a session that can be resumed',
    holds: ({ result, transcript }) =>
      result?.ending === 'done' && transcript.includes('and the check passes'),
  },
];

function wasSent(requests: readonly ModelRequest[], text: string): boolean {
  return requests.some(({ messages }) => JSON.stringify(messages).includes(text));
}

function isRefusedByBoth(event: RuntimeEvent): boolean {
  if (event.type !== 'hook' || !isRefusal(event.verdict.effect)) return false;
  const dialects = event.verdict.reasons.map(({ hook }) => hook.split(':')[0]);
  return dialects.includes('claude') && dialects.includes('plugin');
}

function isSentBack(event: RuntimeEvent): boolean {
  return event.type === 'hook' && event.verdict.event === 'Stop' && isRefusal(event.verdict.effect);
}
