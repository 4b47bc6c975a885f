import type * as acp from '@agentclientprotocol/sdk';
import { VERSION } from '../base/version.ts';

/** What the editor can show and ask beyond what every editor can. */
export interface Abilities {
  readonly notices: boolean;
  readonly forms: boolean;
  readonly pages: boolean;
}

export const NO_ABILITIES: Abilities = { notices: false, forms: false, pages: false };

export function abilitiesOf(capabilities: acp.ClientCapabilities | undefined): Abilities {
  return {
    notices: isGiven(capabilities?.session?.notices),
    forms: isGiven(capabilities?.elicitation?.form),
    pages: isGiven(capabilities?.elicitation?.url),
  };
}

function isGiven(capability: object | null | undefined): boolean {
  return capability !== null && capability !== undefined;
}

/** What an editor is told of the agent. */
export function introduction(protocolVersion: number): acp.InitializeResponse {
  return {
    protocolVersion,
    agentInfo: { name: 'hookline', title: 'Hookline', version: VERSION },
    authMethods: [],
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: {
        list: {},
        delete: {},
        resume: {},
        close: {},
        additionalDirectories: {},
      },
    },
  };
}
