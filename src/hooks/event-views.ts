import { subjectOf } from './events.ts';
import {
  type FaceContext,
  namesOf,
  type ToolCall,
  type ToolView,
  viewsOf,
  type Vocabulary,
} from './faces/faces.ts';
import { callOf, type HookEvent } from './facts.ts';
import type { HandlerInput } from './handler.ts';

/** One thing that a handler may be asked about. */
export interface Subject {
  readonly input: HandlerInput;
  /** Every name that matchers are tried on; found out when it is first asked for. */
  names(): readonly string[];
}

/** An event as each vocabulary sees it; made once per vocabulary and shared by its handlers. */
export interface EventViews {
  /** No other views in this process have it. */
  readonly id: number;
  readonly event: HookEvent;
  in(vocabulary: Vocabulary): readonly Subject[];
  seenIn(vocabulary: Vocabulary): Seen;
}

/** What the handlers of a vocabulary may be asked about. */
export interface Seen {
  readonly subjects: readonly Subject[];
  /** Theirs, always in the same list. */
  readonly inputs: readonly HandlerInput[];
}

export type ReadText = (absolutePath: string) => string | null;

let lastId = 0;

export function viewEvent(event: HookEvent, readText: ReadText | undefined): EventViews {
  lastId += 1;
  return new Views(lastId, event, readText);
}

class Views implements EventViews {
  readonly id: number;
  readonly event: HookEvent;
  readonly #readText: ReadText | undefined;
  // Not a Map: each of maybe a thousand handlers asks.
  #claude: Seen | null = null;
  #classic: Seen | null = null;
  #sdk: Seen | null = null;

  constructor(id: number, event: HookEvent, readText: ReadText | undefined) {
    this.id = id;
    this.event = event;
    this.#readText = readText;
  }

  in(vocabulary: Vocabulary): readonly Subject[] {
    return this.seenIn(vocabulary).subjects;
  }

  seenIn(vocabulary: Vocabulary): Seen {
    if (vocabulary === 'claude') return (this.#claude ??= this.#see(vocabulary));
    if (vocabulary === 'sdk') return (this.#sdk ??= this.#see(vocabulary));
    return (this.#classic ??= this.#see(vocabulary));
  }

  #see(vocabulary: Vocabulary): Seen {
    const subjects = subjectsIn(this.event, vocabulary, this.#readText);
    return { subjects, inputs: subjects.map(({ input }) => input) };
  }
}

export function faceContext(event: HookEvent, readText: ReadText | undefined): FaceContext {
  const root = event.workspaceRoots[0] ?? null;
  return readText === undefined ? { cwd: event.cwd, root } : { cwd: event.cwd, root, readText };
}

function subjectsIn(
  event: HookEvent,
  vocabulary: Vocabulary,
  readText: ReadText | undefined,
): readonly Subject[] {
  const call = callOf(event);
  if (call === null) return [new Occasion(event)];
  const subjects: Subject[] = [];
  for (const tool of viewsOf(call, vocabulary, faceContext(event, readText))) {
    if (isAbout(event, tool)) subjects.push(new PartOfCall(event, call, tool));
  }
  return subjects;
}

/** An event that is about no tool. */
class Occasion implements Subject {
  readonly input: HandlerInput;
  #names: readonly string[] | null = null;

  constructor(event: HookEvent) {
    this.input = { event, tool: null };
  }

  names(): readonly string[] {
    return (this.#names ??= subjectNames(this.input.event));
  }
}

/** One part of a tool call, mostly all of it. */
class PartOfCall implements Subject {
  readonly input: HandlerInput;
  readonly #call: ToolCall;
  readonly #tool: ToolView;
  #names: readonly string[] | null = null;

  constructor(event: HookEvent, call: ToolCall, tool: ToolView) {
    this.input = { event, tool };
    this.#call = call;
    this.#tool = tool;
  }

  names(): readonly string[] {
    return (this.#names ??= namesOf(this.#call, this.#tool));
  }
}

/** Of a call whose parts ended differently, each is told with its own event; the whole has failed. */
function isAbout(event: HookEvent, { part }: ToolView): boolean {
  if (event.name !== 'PostToolUse' && event.name !== 'PostToolUseFailure') return true;
  const { parts, success } = event.result;
  const own = part === null ? success : (parts?.[part]?.success ?? success);
  return own === (event.name === 'PostToolUse');
}

function subjectNames(event: HookEvent): readonly string[] {
  const subject = subjectOf(event);
  return subject === null ? [] : [subject];
}
