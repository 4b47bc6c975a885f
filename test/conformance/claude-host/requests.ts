import type { Played } from './play.ts';
import type { WireBlock, WireRequest } from './messages-server.ts';

/** The last message of a request, in the format of the recording. */
export function readNewText(request: WireRequest | undefined): string {
  const content = request?.messages.at(-1)?.content ?? [];
  return readMessageText(content);
}

/** All messages of the user, hooks and tools up to a request. */
export function readAllText(request: WireRequest | undefined): readonly string[] {
  const messages = request?.messages ?? [];
  return messages.filter(({ role }) => role === 'user').map(({ content }) => readMessageText(content));
}

function readMessageText(content: string | readonly WireBlock[]): string {
  if (typeof content === 'string') return content.trim();
  return content.map((block) => readBlockText(block).trim()).join('\n\n');
}

function readBlockText(block: WireBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'tool_use') return `[TOOL_USE] ${block.name}`;
  const { content } = block;
  const text =
    typeof content === 'string' ? content : content.map((each) => each.text ?? '').join('\n');
  return `${block.is_error === true ? '[TOOL_RESULT ERR]' : '[TOOL_RESULT]'} ${text}`;
}

/** What the model saw in the recording; `⏎` stands between the blocks of a message. */
export function readRecordedText(recorded: unknown): string {
  const list: readonly unknown[] = Array.isArray(recorded) ? recorded : [recorded];
  const text = list
    .map(String)
    .join(' ⏎ ')
    .replace(/^user: /u, '');
  return text.replaceAll(/\s*⏎\s*/gu, '\n\n').trim();
}

/** Of a text of the recording: the same with what is added here, the hook that it is from. */
export function attributed(text: string, hook: string): string {
  return text
    .replaceAll(
      /( hook (?:additional context|success): (?:(?!<\/system-reminder>)[\s\S])*)\n<\/system-reminder>/gu,
      (_whole, text: string) => `${text.trimEnd()}\n(from ${hook})\n</system-reminder>`,
    )
    .replaceAll(
      / hook blocking error from command: ".*": /gu,
      () => ` hook blocking error from command: "${hook}": `,
    );
}

/** The hooks that recorded a payload, each as `event:name`. */
export function listRecordedEvents({ payloads: reports }: Played): readonly string[] {
  return reports.map(({ name, payload }) => `${String(payload['hook_event_name'])}:${name}`);
}
