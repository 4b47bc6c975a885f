import type { Host } from '../../host/create-host.ts';
import type { CommandContext } from '../context.ts';
import type { ChatView } from './view/view.ts';

/** What a command of the chat may use. */
export interface CommandPlace {
  readonly context: CommandContext;
  readonly host: Host;
  readonly view: ChatView;
  readonly sessionId: string;
  /** Aborts when the person does not want to answer any more. */
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  readonly leave: () => void;
  /** Goes on in another session, and ends this one for the reason. */
  readonly changeSession: (to: { readonly resume: string } | 'new') => Promise<void>;
}
