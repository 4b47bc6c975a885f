import { isRecord } from '../base/json.ts';
import { type Attributed, joinTexts, type Verdict } from '../hooks/decision.ts';
import { type CallFacts, getToolCall, type HookEvent } from '../hooks/facts.ts';
import type { DialectEvents, WriteAnswer, WrittenAnswer } from './dialect.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A part of an answer; the parts of one answer are joined. */
export interface AnswerPart {
  /** Fields of the JSON on stdout. */
  readonly top?: Fields;
  /** Fields of its `hookSpecificOutput`. */
  readonly specific?: Fields;
  /** Plain text on stdout, where there is no JSON. */
  readonly text?: string;
  readonly stderr?: string;
  readonly exitCode?: 2;
}

/** A rewritten tool input with what decides whether an agent can apply it. */
export interface RewrittenCall {
  readonly call: CallFacts;
  readonly input: Fields;
  /** Whether the verdict allows the call: some agents apply a rewrite only then. */
  readonly isAllowed: boolean;
}

/** What one event of an agent understands. An absent function is something that the event cannot express. */
export interface EventAnswers {
  readonly refuse?: (reason: string) => AnswerPart;
  /** Without it, a question is a refusal that says that the user's approval is needed. */
  readonly ask?: (reason: string | null) => AnswerPart;
  /** Whether the agent asks the user at this event anyway. */
  readonly asksAnyway?: true;
  /** Without it nothing is written: the agent's own approval stays. */
  readonly allow?: (reason: string | null) => AnswerPart;
  /** Ends the run. Without it, a stop is a refusal. */
  readonly stop?: (reason: string) => AnswerPart;
  /** Whether a stop is written as a refusal, too, because the agent is not known to end before the action. */
  readonly stopRefuses?: true;
  /** Whether the run ends unless the event is refused, so that a stop needs no words. */
  readonly endsAnyway?: true;
  readonly context?: (text: string) => AnswerPart;
  /** Whether context may stand beside a refusal. */
  readonly takesContextWithRefusal?: true;
  /** Text for the user. */
  readonly message?: (text: string) => AnswerPart;
  /** Null when this rewrite cannot be applied: then the call is refused with the new input as advice. */
  readonly rewrite?: (rewritten: RewrittenCall) => AnswerPart | null;
  /** Replaces the result of a tool; null when this one cannot be replaced. */
  readonly output?: (output: string, call: CallFacts) => AnswerPart | null;
}

export interface AgentAnswers {
  /** What the agent is called in losses. */
  readonly label: string;
  readonly names: DialectEvents;
  /** By the agent's own names. */
  readonly events: Readonly<Record<string, EventAnswers>>;
  /** Stdout without an opinion. */
  readonly nothing: '' | '{}\n';
}

/** Creates the `writeAnswer` of an agent from what its events understand. */
export function createAnswerWriter(agent: AgentAnswers): WriteAnswer {
  return (event, verdict, foreignEvent) => {
    const name = foreignEvent ?? agent.names.listNames(event)[0];
    const answers = name === undefined ? undefined : agent.events[name];
    if (name === undefined || answers === undefined) {
      return writeUnknownEvent(agent, event, verdict);
    }
    const writer = new AnswerWriter(agent, name, answers, event, verdict);
    return writer.write();
  };
}

/** An event without a name in this agent is refused with exit code 2, which most events take for a refusal. */
function writeUnknownEvent(
  { label, nothing }: AgentAnswers,
  { name }: HookEvent,
  verdict: Verdict,
): WrittenAnswer {
  const isRefused = !['pass', 'allow'].includes(verdict.effect) || verdict.stop !== null;
  return {
    stdout: isRefused ? '' : nothing,
    stderr: isRefused ? `${findReason(verdict)}\n` : '',
    exitCode: isRefused ? 2 : 0,
    losses: [`${label} has no event for ${name}`],
  };
}

function findReason({ reasons, stop }: Verdict): string {
  return findText(reasons) ?? findText(listStopReason(stop)) ?? 'Refused by a hook';
}

function listStopReason(stop: Verdict['stop']): readonly Attributed[] {
  return stop === null ? [] : [{ hook: '', text: stop.reason }];
}

/** An agent may take a reason without letters for none, and a refusal without a reason for no refusal. */
function findText(texts: readonly Attributed[]): string | null {
  const text = joinTexts(texts);
  return text === null || text.trim() === '' ? null : text;
}

class AnswerWriter {
  readonly #agent: AgentAnswers;
  readonly #name: string;
  readonly #can: EventAnswers;
  readonly #event: HookEvent;
  readonly #verdict: Verdict;
  readonly #parts: AnswerPart[] = [];
  readonly #losses: string[] = [];

  constructor(
    agent: AgentAnswers,
    name: string,
    can: EventAnswers,
    event: HookEvent,
    verdict: Verdict,
  ) {
    this.#agent = agent;
    this.#name = name;
    this.#can = can;
    this.#event = event;
    this.#verdict = verdict;
  }

  write(): WrittenAnswer {
    const rewrite = this.#createRewrite();
    const refusal = this.#findRefusal(rewrite);
    const isRefused = refusal !== null;
    if (isRefused) this.#add(this.#can.refuse?.(refusal), 'cannot be refused');
    else this.#addApproval(rewrite);
    if (this.#verdict.stop !== null) this.#addStop(this.#verdict.stop.reason);
    this.#addTexts(isRefused);
    this.#addOutput();
    const { label } = this.#agent;
    for (const field of Object.keys(this.#verdict.changes)) {
      this.#losses.push(`${label} does not read at ${this.#name}: ${field}`);
    }
    return this.#join();
  }

  /** Undefined without a rewrite, null for one that cannot be applied. */
  #createRewrite(): AnswerPart | null | undefined {
    const { input, effect } = this.#verdict;
    const call = getToolCall(this.#event);
    if (input === null || call === null || effect === 'deny' || effect === 'stop') return undefined;
    if (!isRecord(input)) return null;
    return this.#can.rewrite?.({ call, input, isAllowed: effect === 'allow' }) ?? null;
  }

  /** Finds why the event must be refused; null when it need not. */
  #findRefusal(rewrite: AnswerPart | null | undefined): string | null {
    const { effect, stop, reasons } = this.#verdict;
    const reason = findReason(this.#verdict);
    if (this.#can.endsAnyway === true && stop !== null) return null;
    if (effect === 'deny' || effect === 'stop') return reason;
    if (effect === 'defer') return this.#replaceBy(reason, 'cannot defer');
    if (effect === 'ask' && this.#can.ask === undefined && this.#can.asksAnyway !== true) {
      const why = findText(reasons) ?? 'a hook asks for it';
      return this.#replaceBy(`Needs your approval: ${why}`, 'cannot ask');
    }
    if (stop !== null && (this.#can.stop === undefined || this.#can.stopRefuses === true)) {
      if (this.#can.stop !== undefined) this.#lose('stops before the pending action');
      return findText(listStopReason(stop)) ?? reason;
    }
    if (rewrite === null) {
      const advice = JSON.stringify(this.#verdict.input);
      return this.#replaceBy(
        `A hook changed the input of this call, which ${this.#agent.label} does not apply here. Use this input instead: ${advice}`,
        'cannot apply the rewritten input',
      );
    }
    return null;
  }

  #replaceBy(reason: string, loss: string): string {
    this.#lose(loss, this.#can.refuse === undefined ? '' : ', so that it is refused');
    return reason;
  }

  #addApproval(rewrite: AnswerPart | null | undefined): void {
    const { effect, reasons } = this.#verdict;
    const reason = findText(reasons);
    if (effect === 'ask') this.#parts.push(this.#can.ask?.(reason) ?? {});
    if (effect === 'allow') {
      this.#parts.push(this.#can.allow?.(reason) ?? {});
      const isGate = this.#event.name === 'PreToolUse' || this.#event.name === 'PermissionRequest';
      if (this.#can.allow === undefined && rewrite === undefined && isGate) {
        this.#losses.push(`${this.#agent.label} still asks for its own approval`);
      }
    }
    if (rewrite !== undefined && rewrite !== null) this.#parts.push(rewrite);
  }

  #addStop(reason: string): void {
    if (this.#can.endsAnyway === true) return;
    const text = reason.trim() === '' ? 'Stopped by a hook' : reason;
    this.#add(this.#can.stop?.(text), 'cannot end the run');
  }

  #addTexts(isRefused: boolean): void {
    const context = findText(this.#verdict.context);
    const takesContext = !isRefused || this.#can.takesContextWithRefusal === true;
    if (context !== null && takesContext) {
      this.#add(this.#can.context?.(context), 'takes no context');
    } else if (context !== null) {
      this.#lose('takes no context', ' beside a refusal');
    }
    const message = findText(this.#verdict.messages);
    if (message === null) return;
    // A refusal is written alone: what it stands beside may make the agent ignore it.
    const part =
      isRefused || this.#verdict.input !== null ? undefined : this.#can.message?.(message);
    this.#add(part, 'shows no message to the user');
  }

  #addOutput(): void {
    const { output } = this.#verdict;
    const call = getToolCall(this.#event);
    if (output === null || output === undefined || call === null) return;
    const text = typeof output === 'string' ? output : (JSON.stringify(output) ?? '');
    this.#add(
      this.#can.output?.(text, call) ?? undefined,
      'cannot replace the result of this tool',
    );
  }

  #add(part: AnswerPart | undefined, loss: string): void {
    if (part === undefined) this.#lose(loss);
    else this.#parts.push(part);
  }

  #lose(loss: string, rest = ''): void {
    this.#losses.push(`${this.#name} ${loss} in ${this.#agent.label}${rest}`);
  }

  #join(): WrittenAnswer {
    const top = joinFields(this.#parts.map((part) => part.top));
    const specific = joinFields(this.#parts.map((part) => part.specific));
    const hasSpecific = Object.keys(specific).length > 0;
    const json = {
      ...top,
      ...(hasSpecific ? { hookSpecificOutput: { hookEventName: this.#name, ...specific } } : {}),
    };
    const hasJson = Object.keys(json).length > 0;
    const text = this.#parts.find((part) => part.text !== undefined)?.text;
    if (hasJson && text !== undefined) this.#lose('takes no context', ' beside another answer');
    const plain = text === undefined ? this.#agent.nothing : `${text}\n`;
    const stderr = this.#parts.flatMap((part) => part.stderr ?? []);
    return {
      stdout: hasJson ? `${JSON.stringify(json)}\n` : plain,
      stderr: stderr.length === 0 ? '' : `${stderr.join('\n')}\n`,
      exitCode: this.#parts.some((part) => part.exitCode === 2) ? 2 : 0,
      losses: this.#losses,
    };
  }
}

function joinFields(all: readonly (Fields | undefined)[]): Fields {
  return Object.fromEntries(all.flatMap((fields) => Object.entries(fields ?? {})));
}

/** Whether the new input has every key of the old one: an agent that merges both keeps a removed key. */
export function hasEveryKey({ call, input }: RewrittenCall): boolean {
  return !isRecord(call.input) || Object.keys(call.input).every((key) => Object.hasOwn(input, key));
}

/** Parts in Claude's format, which several agents have adopted. */
export const CLAUDE_PARTS = {
  permit: (permissionDecision: 'allow' | 'ask' | 'deny', reason: string | null): AnswerPart => ({
    specific: {
      permissionDecision,
      ...(reason === null ? {} : { permissionDecisionReason: reason }),
    },
  }),
  block: (reason: string): AnswerPart => ({ top: { decision: 'block', reason } }),
  stop: (reason: string): AnswerPart => ({ top: { continue: false, stopReason: reason } }),
  context: (text: string): AnswerPart => ({ specific: { additionalContext: text } }),
  message: (text: string): AnswerPart => ({ top: { systemMessage: text } }),
  allowRequest: (): AnswerPart => ({ specific: { decision: { behavior: 'allow' } } }),
  denyRequest: (message: string): AnswerPart => ({
    specific: { decision: { behavior: 'deny', message } },
  }),
} as const;
