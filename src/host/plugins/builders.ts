import { safeMessages } from '../../agent/conversation/safe-messages.ts';
import { messageOf } from '../../base/errors.ts';
import {
  fromProviderMessages,
  toProviderMessages,
} from '../../dialects/cline-plugin/builder-messages.ts';
import type { OnIssue } from '../../plugins/issue.ts';
import type { AgentExtensionMessageBuilder } from '../../plugins/contract/plugin.ts';
import type { ActivePlugin } from '../../plugins/registry.ts';
import type { Message } from '../../sessions/messages.ts';

/**
 * Runs every message builder once, each on what the one before it made. One that fails or gives
 * nothing of use is passed over and told of. What they make is for this request only.
 */
export async function buildMessages(
  messages: readonly Message[],
  plugins: readonly ActivePlugin[],
  onIssue: OnIssue,
): Promise<readonly Message[]> {
  const builders = plugins.flatMap(({ name: plugin, contributions }) =>
    contributions.messageBuilders.map((builder) => ({ plugin, builder })),
  );
  let built = messages;
  for (const { plugin, builder } of builders) {
    const made = await build(builder, built);
    if (typeof made !== 'string') built = made;
    else {
      const message = `the message builder ${builder.name} is passed over: ${made}`;
      onIssue({ plugin, phase: 'builder', level: 'warning', message });
    }
  }
  return built === messages ? messages : safeMessages(built);
}

async function build(
  builder: AgentExtensionMessageBuilder,
  messages: readonly Message[],
): Promise<readonly Message[] | string> {
  try {
    return fromProviderMessages(await builder.build(toProviderMessages(messages)));
  } catch (error) {
    return messageOf(error);
  }
}
