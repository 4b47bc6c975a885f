import type { SourceFile } from '../source-files.ts';
import { findNamedFunctions } from './instrument.ts';
import type { Trace, TracedCall } from './trace-call.ts';

/** One call on the way from the tool call to the verdict. */
interface Step {
  readonly call: number;
  /** The step in which it was made; null for the first. */
  readonly caller: number | null;
}

export interface Spine {
  /** The functions on it, in the order of the calls; one that is called twice stands there twice. */
  readonly functions: readonly string[];
  /** How often the way goes into another file. */
  readonly fileChanges: number;
  readonly trustChecks: number;
}

/** Inside of these, only the function that is called from outside counts; `base` never counts. */
const LEAF_FOLDER = /^src\/(?:base|process|trust|dialects\/[^/]+)\//u;

/** The path of every milestone, from the function that begins with the one tool call. */
export function findSpine({ calls, milestones }: Trace): Spine {
  const start = findStart({ calls, milestones });
  const end = milestones.findIndex(
    ({ what, call }) => what === 'verdict' && isBelow(calls, call, start),
  );
  const steps = new Map<number, Step>();
  for (const { what, call } of milestones.slice(0, end + 1)) {
    const way = findWay(calls, call);
    const isTrust = way.some((each) => calls[each]?.id.startsWith('src/trust/'));
    if (!way.includes(start) || (what === 'hook file looked at' && !isTrust)) continue;
    const below = way.slice(way.indexOf(start));
    for (const step of leaveOutLeaves(calls, below)) steps.set(step.call, step);
  }
  const getFile = (call: number | null): string =>
    call === null ? '' : (calls[call]?.id.split('#')[0] ?? '');
  const all = [...steps.values()];
  return {
    functions: all.map(({ call }) => calls[call]?.id ?? ''),
    fileChanges: all.filter(({ call, caller }) => getFile(call) !== getFile(caller)).length,
    trustChecks: all.filter(({ call }) => getFile(call).startsWith('src/trust/')).length,
  };
}

/** The first call on the hook's way that is not on the tool's: it decides about this one tool call. */
function findStart({ calls, milestones }: Pick<Trace, 'calls' | 'milestones'>): number {
  const findWayOf = (wanted: string): number[] => {
    const found = milestones.find(({ what }) => what === wanted);
    if (found === undefined) throw new Error(`the traced run has no milestone "${wanted}"`);
    return findWay(calls, found.call);
  };
  const toTool = new Set(findWayOf('tool started'));
  return findWayOf('hook started').find((call) => !toTool.has(call)) ?? -1;
}

/** The calls from the outermost to this one. */
function findWay(calls: readonly TracedCall[], call: number): number[] {
  const way: number[] = [];
  for (let each = call; each >= 0; each = calls[each]?.caller ?? -1) way.unshift(each);
  return way;
}

function isBelow(calls: readonly TracedCall[], call: number, start: number): boolean {
  return findWay(calls, call).includes(start);
}

function leaveOutLeaves(calls: readonly TracedCall[], way: readonly number[]): Step[] {
  const steps: Step[] = [];
  let folder: string | null = null;
  for (const call of way) {
    const id = calls[call]?.id ?? '';
    const before: string | null = folder;
    if (id.startsWith('src/base/')) continue;
    folder = LEAF_FOLDER.exec(id)?.[0] ?? null;
    if (folder !== null && folder === before) continue;
    steps.push({ call, caller: steps.at(-1)?.call ?? null });
  }
  return steps;
}

/** These neither ask hooks nor carry the answer: what they get of the call is their own subject. */
const OTHER_SUBJECT = /^src\/(?:base|permissions|cli|trace)\//u;

/**
 * The named types under which the call, and then its answer, travel: those in the annotations of
 * parameters and results that hold the marker at run time, in functions that hand it on to another.
 */
export function findShapes(trace: Trace, sources: readonly SourceFile[]): string[] {
  const { calls, milestones } = trace;
  const start = findStart(trace);
  const isAsked = ({ what, call }: { what: string; call: number }): boolean =>
    what === 'verdict' && calls[call]?.caller === start;
  const end = milestones.find(isAsked)?.at ?? calls.length;
  const carries = ({ parametersHold, resultHolds }: TracedCall): boolean =>
    resultHolds || parametersHold.includes(true);
  const handsOn = new Set(calls.filter(carries).map(({ caller }) => caller));
  const functions = new Map(sources.flatMap(findNamedFunctions).map((each) => [each.id, each]));
  const declared = new Set(sources.flatMap(findDeclaredTypes));
  const shapes = new Set<string>();
  for (const [index, call] of calls.entries()) {
    if (index < start || index >= end || !carries(call) || !handsOn.has(index)) continue;
    if (OTHER_SUBJECT.test(call.id) || isInsideLeaf(calls, call)) continue;
    if (!isBelow(calls, index, start)) continue;
    const known = functions.get(call.id);
    const names = [
      ...(known?.parameterTypes ?? []).filter((_, place) => call.parametersHold[place]).flat(),
      ...(call.resultHolds ? (known?.resultTypes ?? []) : []),
    ];
    for (const name of names) if (declared.has(name)) shapes.add(name);
  }
  return [...shapes];
}

function isInsideLeaf(calls: readonly TracedCall[], { id, caller }: TracedCall): boolean {
  const folder = LEAF_FOLDER.exec(id)?.[0];
  return folder !== undefined && LEAF_FOLDER.exec(calls[caller]?.id ?? '')?.[0] === folder;
}

function findDeclaredTypes({ text }: SourceFile): string[] {
  return [...text.matchAll(/^\s*(?:export )?(?:interface|type|(?:abstract )?class) (\w+)/gmu)].map(
    ([, name = '']) => name,
  );
}
