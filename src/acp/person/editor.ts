import type * as acp from '@agentclientprotocol/sdk';
import type { Abilities } from '../abilities.ts';
import type { Aside } from '../shown/asides.ts';
import type { Clean } from '../shown/without-secrets.ts';

/** The editor as it is reached from one session. */
export interface Editor {
  readonly client: acp.AgentContext;
  readonly abilities: Abilities;
  /** Null until the editor has been told of the session: nothing can be asked before. */
  readonly sessionId: () => string | null;
  readonly cwd: () => string;
  /** The call that asks the person something now. */
  readonly askingCall: () => string | null;
  readonly tell: (update: acp.SessionUpdate) => void;
  readonly say: (aside: Aside) => void;
  /** Waits until all that was told is on its way. */
  readonly settled: () => Promise<void>;
  readonly clean: Clean;
}
