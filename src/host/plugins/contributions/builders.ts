import { normalizeMessages } from '../../../agent/conversation/normalize-messages.ts';
import {
  fromProviderMessages,
  toProviderMessages,
} from '../../../plugins/messages/provider-messages.ts';
import { toPlainText, readReason } from '../../../plugins/serialize/plain-value.ts';
import { callWithTimeout } from '../../../plugins/call-with-timeout.ts';
import type { ProviderMessage } from '../../../plugins/contract/message.ts';
import type { AgentExtensionMessageBuilder } from '../../../plugins/contract/plugin.ts';
import type { PluginGroup } from '../../../plugins/loaded-plugin.ts';
import { runAsPlugin } from '../../../plugins/plugin-ownership.ts';
import type { Message } from '../../../sessions/messages.ts';

/**
 * Runs every message builder once, each with the result of the one before. One that fails or returns an
 * invalid result is skipped and reported. The result is used for this request only.
 */
export async function buildMessages(
  messages: readonly Message[],
  { plugins, timeoutMs, onIssue }: PluginGroup,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  const working = plugins.filter((plugin) => plugin.readExit() === null);
  const builders = working.flatMap(({ name: plugin, file, contributions }) =>
    contributions.messageBuilders.map((builder) => ({ plugin, file, builder })),
  );
  let built = messages;
  for (const { plugin, file, builder } of builders) {
    const copies = copyInputs(toProviderMessages(built));
    const result = await runBuilder(builder, () =>
      callWithTimeout(() => runAsPlugin(file, () => builder.build(copies)), { timeoutMs, signal }),
    );
    // The request was aborted.
    if (signal.aborted) return messages;
    if (typeof result !== 'string') built = result;
    else onIssue({ plugin, phase: 'builder', level: 'warning', message: result });
  }
  return built === messages ? messages : normalizeMessages(built);
}

/** A builder may change its argument in place, and the stored conversation must not change. */
function copyInputs(messages: ProviderMessage[]): ProviderMessage[] {
  for (const { content } of messages) {
    for (const block of typeof content === 'string' ? [] : content) {
      if (block.type === 'tool_use') block.input = structuredClone(block.input);
    }
  }
  return messages;
}

async function runBuilder(
  { name = 'without a name' }: Partial<AgentExtensionMessageBuilder>,
  build: () => Promise<unknown>,
): Promise<readonly Message[] | string> {
  const formatSkipped = (why: string): string =>
    `the message builder ${name} is passed over: ${why}`;
  try {
    const messages = fromProviderMessages(await build());
    if (typeof messages === 'string') return formatSkipped(messages);
    const unsayable = messages.findIndex(hasUnsayableInput);
    if (unsayable < 0) return messages;
    return formatSkipped(
      `message ${unsayable + 1} of what it gave calls a tool with input that is not JSON`,
    );
  } catch (error) {
    return formatSkipped(readReason(error));
  }
}

const MAX_INPUT_CHARACTERS = 10_000_000;

/** Services refuse a request with such an input. */
function hasUnsayableInput({ content }: Message): boolean {
  return content.some((block) => {
    if (block.type !== 'tool_use') return false;
    const { isExact, isCut } = toPlainText(block.input, MAX_INPUT_CHARACTERS);
    return !isExact || isCut;
  });
}
