import {
  type AssistantBlock,
  type AssistantMessage,
  type Message,
  type TextBlock,
  type ToolResultBlock,
  type UserBlock,
  type UserMessage,
  createUserMessage,
  REMINDER_START,
} from '../../sessions/messages.ts';

/** The longest text sent to a model. */
const MAX_TEXT_CHARS = 400_000;
const BEGINNING = '(The conversation goes on.)';
const GO_ON = 'Go on.';
const INTERRUPTED = 'No result: the call was interrupted before it was done.';

/**
 * Makes a conversation acceptable to model services: every call is followed by exactly one result, texts
 * are bounded, roles alternate, and the first and last message are the user's.
 */
export function normalizeMessages(messages: readonly Message[]): readonly Message[] {
  const safe: Message[] = [];
  for (const message of messages) appendMessage(safe, message);
  return endWithUserMessage(safe);
}

/**
 * Like normalizeMessages, for a list that only grows: only messages added since the last call are
 * processed. A different list starts over.
 */
export function createMessageNormalizer(): (messages: readonly Message[]) => readonly Message[] {
  let list: readonly Message[] = [];
  let safe: Message[] = [];
  let done = 0;
  return (messages) => {
    if (messages !== list) [list, safe, done] = [messages, [], 0];
    for (const message of messages.slice(done)) appendMessage(safe, message);
    done = messages.length;
    return endWithUserMessage([...safe]);
  };
}

function appendMessage(safe: Message[], message: Message): void {
  if (message.role === 'assistant') appendAssistantMessage(safe, message);
  else appendUserMessage(safe, message);
}

function endWithUserMessage(safe: Message[]): readonly Message[] {
  answerOpenCalls(safe);
  if (safe.at(-1)?.role !== 'user') safe.push(createUserMessage(GO_ON));
  return safe;
}

function appendAssistantMessage(safe: Message[], message: AssistantMessage): void {
  const content = removeDuplicates(message.content.filter(isNotBlank), getCallId).map((block) =>
    block.type === 'text' ? truncateTextBlock(block) : block,
  );
  if (content.length === 0) return;
  answerOpenCalls(safe);
  if (safe.length === 0) safe.push(createUserMessage(BEGINNING));
  const last = safe.at(-1);
  if (last?.role === 'assistant') {
    safe[safe.length - 1] = { role: 'assistant', content: [...last.content, ...content] };
  } else safe.push(isSame(content, message.content) ? message : { role: 'assistant', content });
}

/** An unchanged message keeps its identity, because token estimates are cached per message object. */
function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((block, index) => block === other[index]);
}

/** Services reject a text of only white space. */
function isNotBlank(block: AssistantBlock | UserBlock): boolean {
  return block.type !== 'text' || block.text.trim() !== '';
}

/** Blocks with the same call id are kept once. */
function removeDuplicates<Block>(
  blocks: readonly Block[],
  getId: (block: Block) => string | null,
): readonly Block[] {
  const ids = new Set<string>();
  return blocks.filter((block) => {
    const id = getId(block);
    const isNew = id === null || !ids.has(id);
    if (id !== null) ids.add(id);
    return isNew;
  });
}

function getCallId(block: AssistantBlock): string | null {
  return block.type === 'tool_use' ? block.id : null;
}

function getResultId(block: UserBlock): string | null {
  return block.type === 'tool_result' ? block.tool_use_id : null;
}

function appendUserMessage(safe: Message[], message: UserMessage): void {
  const open = listOpenCalls(safe);
  const fitting = message.content.filter((block) => {
    const id = getResultId(block);
    return id === null || open.includes(id);
  });
  const content = removeDuplicates(fitting.filter(isNotBlank), getResultId).map(truncateBlock);
  if (content.length === 0) return;
  const last = safe.at(-1);
  if (last?.role === 'user') {
    const hasResults = content.some(({ type }) => type === 'tool_result');
    const before = hasResults ? joinReminders(last.content) : last.content;
    safe[safe.length - 1] = { role: 'user', content: moveResultsFirst([...before, ...content]) };
    return;
  }
  const ordered = moveResultsFirst(content);
  safe.push(isSame(ordered, message.content) ? message : { role: 'user', content: ordered });
}

/** Ids of the last answer's calls that have no result yet. */
function listOpenCalls(safe: readonly Message[]): readonly string[] {
  const last = safe.at(-1);
  const answer = last?.role === 'assistant' ? last : safe.at(-2);
  if (answer?.role !== 'assistant') return [];
  const done = last?.role === 'user' ? listResultIds(last) : [];
  const callIds = answer.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  return callIds.filter((id) => !done.includes(id));
}

function listResultIds({ content }: UserMessage): readonly string[] {
  return content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
}

function answerOpenCalls(safe: Message[]): void {
  const results = listOpenCalls(safe).map((id): ToolResultBlock => ({
    type: 'tool_result',
    tool_use_id: id,
    content: INTERRUPTED,
    is_error: true,
  }));
  if (results.length > 0) appendUserMessage(safe, { role: 'user', content: results });
}

/** Services require tool results before all other content of a user message. */
function moveResultsFirst(content: readonly UserBlock[]): readonly UserBlock[] {
  const results = content.filter(({ type }) => type === 'tool_result');
  return [...results, ...content.filter(({ type }) => type !== 'tool_result')];
}

/**
 * Adds the reminders after the last result to that result: further results would otherwise come between
 * them, and the model could not see which call they are about.
 */
function joinReminders(content: readonly UserBlock[]): readonly UserBlock[] {
  const at = content.findLastIndex(({ type }) => type === 'tool_result');
  const result = content[at];
  if (result?.type !== 'tool_result') return content;
  const after = content.slice(at + 1);
  const reminders = after.filter(isReminder).map(({ text }) => text);
  if (reminders.length === 0) return content;
  const others = after.filter((block) => !isReminder(block));
  return [...content.slice(0, at), appendTexts(result, reminders), ...others];
}

function isReminder(block: UserBlock): block is TextBlock {
  return block.type === 'text' && block.text.startsWith(REMINDER_START);
}

function appendTexts(block: ToolResultBlock, texts: readonly string[]): ToolResultBlock {
  const { content } = block;
  if (typeof content !== 'string') {
    return {
      ...block,
      content: [...content, ...texts.map((text) => ({ type: 'text', text }) as const)],
    };
  }
  const added = texts.map((text) => `\n\n${text}`).join('');
  // Of a long result only its own text is cut, never what hooks say about it.
  const isLong = content.length + added.length > MAX_TEXT_CHARS;
  const own = isLong ? truncateMiddle(content, MAX_TEXT_CHARS - added.length) : content;
  return { ...block, content: `${own}${added}` };
}

function truncateBlock(block: UserBlock): UserBlock {
  if (block.type === 'text') return truncateTextBlock(block);
  if (block.type === 'image') return block;
  const { content } = block;
  if (typeof content === 'string') {
    return content.length <= MAX_TEXT_CHARS
      ? block
      : { ...block, content: truncateMiddle(content) };
  }
  const bounded = content.map((each) => (each.type === 'text' ? truncateTextBlock(each) : each));
  return isSame(bounded, content) ? block : { ...block, content: bounded };
}

function truncateTextBlock(block: TextBlock): TextBlock {
  return block.text.length <= MAX_TEXT_CHARS
    ? block
    : { type: 'text', text: truncateMiddle(block.text) };
}

/** The result is shorter than the limit including its notice, so it is never cut twice. */
function truncateMiddle(text: string, limit = MAX_TEXT_CHARS): string {
  const half = Math.max(Math.floor(limit / 2) - 50, 0);
  const omitted = text.length - 2 * half;
  return `${text.slice(0, half)}\n[${omitted} characters left out]\n${text.slice(-half)}`;
}
