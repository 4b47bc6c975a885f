import { request as sendRequest } from 'node:http';
import { onTestFinished } from 'vitest';
import { type Bridge, type BridgeOptions, startBridge } from '../../src/bridge/bridge.ts';
import { AGENTS } from '../../src/bridge/protocol.ts';
import { type EventStore, openEventStore } from '../../src/store/event-store.ts';
import { createTempHome, type TempHome } from './temp-home.ts';

export interface OpenedBridge extends TempHome {
  readonly bridge: Bridge;
  readonly store: EventStore;
  readonly port: number;
  readonly problems: string[];
}

/** A bridge in this process on a free port, with a store in a temporary home. */
export async function openBridge(more: Partial<BridgeOptions> = {}): Promise<OpenedBridge> {
  const home = createTempHome();
  const { stateDirectory } = home;
  const problems: string[] = [];
  const store = more.store ?? (await openEventStore({ directory: stateDirectory }));
  const bridge = await startBridge({
    stateDirectory,
    store,
    port: 0,
    agents: AGENTS,
    formatEvent: async ({ id, agent }) => JSON.stringify({ id, agent }),
    importFiles: async () => undefined,
    idleMs: null,
    onProblem: (text) => problems.push(text),
    ...more,
  });
  onTestFinished(async () => {
    await bridge.close();
    await store.close();
  });
  return { ...home, bridge, store, port: bridge.running.port, problems };
}

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly host?: string;
}

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Record<string, unknown>;
}

/** Sends a request as any client does; without a content type only when `headers` names an empty one. */
export function send(port: number, sent: Sent): Promise<Received> {
  const { method = 'POST', path = '/claude-hook', headers = {}, body, host = '127.0.0.1' } = sent;
  const type = method === 'POST' ? { 'content-type': 'application/json' } : {};
  return new Promise((resolve, reject) => {
    const request = sendRequest(
      { host, port, method, path, headers: { ...type, ...headers }, agent: false },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          const { statusCode: status = 0, headers: received } = response;
          resolve({ status, headers: received, body: text === '' ? {} : JSON.parse(text) });
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}
