import { once } from '../../base/once.ts';
import { subjectOf } from '../events.ts';
import {
  type FaceContext,
  namesOf,
  type ToolView,
  viewsOf,
  type Vocabulary,
} from '../faces/faces.ts';
import { callOf, type HookEvent } from '../facts.ts';
import type { HandlerInput } from '../handler.ts';

/** One thing that a handler may be asked about, and every name that matchers are tried on. */
export interface Subject {
  readonly input: HandlerInput;
  readonly names: () => readonly string[];
}

/** An event as each vocabulary sees it; made once per vocabulary and shared by its handlers. */
export interface EventViews {
  /** No other views in this process have it. */
  readonly id: number;
  readonly event: HookEvent;
  in(vocabulary: Vocabulary): readonly Subject[];
}

export type ReadText = (absolutePath: string) => string | null;

let lastId = 0;

export function viewEvent(event: HookEvent, readText: ReadText | undefined): EventViews {
  // Not a Map: each of maybe a thousand handlers asks.
  const made: Partial<Record<Vocabulary, readonly Subject[]>> = {};
  lastId += 1;
  return {
    id: lastId,
    event,
    in: (vocabulary) => (made[vocabulary] ??= subjectsIn(event, vocabulary, readText)),
  };
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
  if (call === null) {
    return [{ input: { event, tool: null }, names: once(() => subjectNames(event)) }];
  }
  const views = viewsOf(call, vocabulary, faceContext(event, readText));
  return views
    .filter((tool) => isAbout(event, tool))
    .map((tool) => ({
      input: { event, tool },
      names: once(() => namesOf(call, tool)),
    }));
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
