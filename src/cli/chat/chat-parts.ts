import type { Host } from '../../host/create-host.ts';
import type { CommandContext } from '../context.ts';
import type { PromptHistory } from './prompt-history.ts';
import type { QueuedPrompts } from './queued-prompts.ts';
import type { Doing } from './telling/doing.ts';
import type { ChatReport } from './telling/report.ts';
import type { ChatView } from './view/view.ts';

/** What a chat is made of. */
export interface ChatParts {
  readonly context: CommandContext;
  readonly host: Host;
  readonly view: ChatView;
  readonly report: ChatReport;
  readonly doing: Doing;
  readonly history: PromptHistory;
  /** Also what was typed before there was a session. */
  readonly queued: QueuedPrompts;
}
