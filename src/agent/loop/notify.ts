import type { Agent } from '../agent.ts';
import { fireAside } from './fire-aside.ts';

export interface News {
  /** In Claude's words: `permission_prompt`, `agent_completed` … */
  readonly type: string;
  readonly message: string;
  /** Whether the agent waits for the person. */
  readonly waiting: boolean;
}

/**
 * Calls the person to the agent; the only place where Notification is fired. Not awaited: they must
 * not wait for the hooks that tell them that they are waited for.
 */
export function notify(agent: Agent, news: News): void {
  agent.tell({ type: 'notification', text: news.message });
  fireAside(agent, { name: 'Notification', ...news });
}
