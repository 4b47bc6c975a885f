import { getSubject } from './events.ts';
import {
  createCalledView,
  type ViewContext,
  listToolNames,
  type ToolView,
  listToolViews,
  type Vocabulary,
} from '../tool-vocabularies/tool-views.ts';
import { getToolCall, type HookEvent } from './facts.ts';
import type { Asking, HandlerInput } from './handler.ts';

export type ReadText = (absolutePath: string) => string | null;

let lastId = 0;

/** An event as the handlers of each vocabulary see it; converted once per vocabulary. */
export class EventViews {
  /** Unique in this process, so that a cache can name these views without keeping the event alive. */
  readonly id = (lastId += 1);
  readonly event: HookEvent;
  readonly #readText: ReadText | undefined;
  readonly #byVocabulary: Partial<Record<Vocabulary, VocabularyView>> = {};
  /** Shared by handlers that are asked alike, so that their payload is encoded once. */
  readonly #byAsking = new Map<string, VocabularyView>();

  constructor(event: HookEvent, readText: ReadText | undefined) {
    this.event = event;
    this.#readText = readText;
  }

  /** Whether the event has been converted for this vocabulary. */
  has(vocabulary: Vocabulary): boolean {
    return this.#byVocabulary[vocabulary] !== undefined;
  }

  getView(vocabulary: Vocabulary): VocabularyView {
    const cachedView = this.#byVocabulary[vocabulary];
    if (cachedView !== undefined) return cachedView;
    const inputs = this.#listInputs(vocabulary);
    const view = { inputs, subjects: inputs.map((input) => new Subject(input)) };
    this.#byVocabulary[vocabulary] = view;
    return view;
  }

  /** The event as a handler sees it that is asked in chosen vocabularies, one after the other. */
  getAskedView(askings: readonly Asking[]): VocabularyView {
    const views = askings.map((asking, index) => this.#getAsking(asking, index === 0));
    return {
      inputs: views.flatMap(({ inputs }) => inputs),
      subjects: views.flatMap(({ subjects }) => subjects),
    };
  }

  #getAsking(asking: Asking, isFirst: boolean): VocabularyView {
    const { vocabulary, isAsCalled } = asking;
    const key = `${vocabulary} ${isAsCalled} ${isFirst}`;
    const cachedView = this.#byAsking.get(key);
    if (cachedView !== undefined) return cachedView;
    const asked = { vocabulary, isFirst };
    const own = isAsCalled ? this.#listCalledInput() : this.getView(vocabulary).inputs;
    const inputs = own.map((input) => ({ ...input, asked }));
    const view = { inputs, subjects: inputs.map((input) => new Subject(input)) };
    this.#byAsking.set(key, view);
    return view;
  }

  #listInputs(vocabulary: Vocabulary): readonly HandlerInput[] {
    const { event } = this;
    const call = getToolCall(event);
    if (call === null) return [{ event, tool: null }];
    return this.#selectInputs(listToolViews(call, vocabulary, this.#createContext()));
  }

  #listCalledInput(): readonly HandlerInput[] {
    const call = getToolCall(this.event);
    if (call === null) return [{ event: this.event, tool: null }];
    return this.#selectInputs([createCalledView(call, this.#createContext())]);
  }

  #createContext(): ViewContext {
    return createViewContext(this.event, this.#readText);
  }

  #selectInputs(tools: readonly ToolView[]): readonly HandlerInput[] {
    const { event } = this;
    return tools.filter((tool) => isAbout(event, tool)).map((tool) => ({ event, tool }));
  }
}

export interface VocabularyView {
  readonly subjects: readonly Subject[];
  /** The input of each subject; the same array for every handler. */
  readonly inputs: readonly HandlerInput[];
}

/** One subject of a handler: the event, or one part of its tool call. */
class Subject {
  readonly input: HandlerInput;
  #names: readonly string[] | null = null;

  constructor(input: HandlerInput) {
    this.input = input;
  }

  /** Every name that matchers are tried on. */
  get names(): readonly string[] {
    return (this.#names ??= this.#listNames());
  }

  #listNames(): readonly string[] {
    const { event, tool } = this.input;
    const call = getToolCall(event);
    if (call !== null && tool !== null) return listToolNames(call, tool);
    const subject = getSubject(event);
    return subject === null ? [] : [subject];
  }
}

export function createViewContext(event: HookEvent, readText: ReadText | undefined): ViewContext {
  const root = event.workspaceRoots[0] ?? null;
  return readText === undefined ? { cwd: event.cwd, root } : { cwd: event.cwd, root, readText };
}

/** Parts of a call may end differently: each part belongs to its own event, and the whole call has failed. */
function isAbout(event: HookEvent, { part }: ToolView): boolean {
  if (event.name !== 'PostToolUse' && event.name !== 'PostToolUseFailure') return true;
  const { parts, success } = event.result;
  const own = part === null ? success : (parts?.[part]?.success ?? success);
  return own === (event.name === 'PostToolUse');
}
