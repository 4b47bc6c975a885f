import type { Host } from '../../../src/host/create-host.ts';
import { toTrustUnit } from '../../../src/host/hook-set.ts';
import type { McpReport } from '../../../src/host/mcp/mcp-servers.ts';
import { bindUnit } from '../../../src/trust/bind-unit.ts';
import { grantTrust } from '../../../src/trust/trust-record.ts';
import type { AgentFixture } from '../../agent/agent-fixture.ts';
import { answersIn, calls, createModelRecorder } from '../../agent/scripted-session.ts';

export const OWN = '~/.hookline/mcp.json';
export const bypass = { permissionMode: 'bypassPermissions' } as const;

export function servers(entries: Readonly<Record<string, object>>): string {
  return JSON.stringify({ mcpServers: entries });
}

/** Runs these calls, one turn after the other, and returns the results that the model got. */
export async function run(
  fixture: AgentFixture,
  wanted: readonly (readonly [string, unknown])[],
  more: object = {},
) {
  const chat = createModelRecorder([...wanted.map((each) => calls(each)), { text: 'Done.' }]);
  const notices: string[] = [];
  const host = await fixture.open({
    model: chat.model,
    ...bypass,
    onNotice: (text) => notices.push(text),
    ...more,
  });
  const { result } = await host.start({ prompt: 'go' });
  await host.dispose();
  return { answers: answersIn(chat), notices, requests: chat.requests, result };
}

export async function trustAll(host: Host): Promise<void> {
  const bindings = host.hooks().map(({ hook }) => bindUnit(toTrustUnit(hook)));
  await grantTrust(host.trust.files!, bindings, { now: 0 });
}

export function stateOf({ statuses }: McpReport) {
  return statuses.map(({ config, state, why, tools }) => ({
    name: config.name,
    source: config.source,
    state,
    why,
    tools: tools.length,
  }));
}
