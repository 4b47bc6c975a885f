import type * as acp from '@agentclientprotocol/sdk';
import { VERSION } from '../base/version.ts';

/** Optional capabilities that the editor announced. */
export interface EditorCapabilities {
  readonly notices: boolean;
  readonly forms: boolean;
  readonly pages: boolean;
}

export const NO_CAPABILITIES: EditorCapabilities = { notices: false, forms: false, pages: false };

export function readCapabilities(
  capabilities: acp.ClientCapabilities | undefined,
): EditorCapabilities {
  return {
    notices: isSupported(capabilities?.session?.notices),
    forms: isSupported(capabilities?.elicitation?.form),
    pages: isSupported(capabilities?.elicitation?.url),
  };
}

function isSupported(capability: object | null | undefined): boolean {
  return capability !== null && capability !== undefined;
}

/** The agent's own capabilities. */
export function buildInitializeResponse(protocolVersion: number): acp.InitializeResponse {
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
