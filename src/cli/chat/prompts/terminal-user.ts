import type { ApprovalRequest, Person } from '../../../agent/session-context.ts';
import type { Question } from '../../../agent/tools/tool-context.ts';
import { toPrintable } from '../../output/print.ts';
import type { ChatView, ChoiceOption } from '../view/view.ts';

/** Asks the user at the terminal. */
export function createTerminalUser(view: ChatView, cwd: () => string) {
  return {
    async approve(request, signal) {
      const { formatCallLines, formatQuestion, formatUpdates } =
        await import('./format-approval.ts');
      const lasting = formatUpdates(request.suggestions);
      const answer = await view.choose(
        {
          title: formatQuestion(request),
          lines: placeReason(request, formatCallLines(request, cwd())),
          options: listApprovalOptions(lasting),
          cancelLabel: 'deny',
        },
        signal,
      );
      if (answer === 'once') return { isAllowed: true };
      if (answer === 'session') return { isAllowed: true, updates: request.suggestions };
      if (answer === null) return { isAllowed: false };
      const reason = (await view.ask(DENIAL_QUESTION, signal))?.trim() ?? '';
      return reason === '' ? { isAllowed: false } : { isAllowed: false, reason };
    },
    async answer(questions, signal) {
      const answers: Record<string, string> = {};
      for (const question of questions) {
        const answer = await askQuestion(view, question, signal);
        if (answer === null) return null;
        answers[question.question] = answer;
      }
      return answers;
    },
    async elicit(request, signal) {
      const { askElicitation } = await import('./elicitation.ts');
      return askElicitation(view, request, signal);
    },
  } satisfies Person;
}

const DENIAL_QUESTION = {
  title: 'Denied. Reason for the agent (optional)',
  lines: [],
  hint: 'Enter send · leave empty to give no reason',
};

const SHORT_REASON = 160;

/** A short reason stands below the call; a long one above it, where it cannot hide the call's end. */
function placeReason({ reason }: ApprovalRequest, callLines: readonly string[]): readonly string[] {
  if (reason === '') return callLines;
  const line = `(${toPrintable(reason)})`;
  return reason.length <= SHORT_REASON ? [...callLines, line] : [line, ...callLines];
}

function listApprovalOptions(lasting: string): readonly ChoiceOption[] {
  const forSession = { value: 'session', key: 'a', label: 'Allow for this session' };
  return [
    { value: 'once', key: 'y', label: 'Allow once' },
    ...(lasting === '' ? [] : [{ ...forSession, about: lasting }]),
    { value: 'deny', key: 'n', label: 'Deny with a reason' },
  ];
}

const OTHER = '\u0000own';
const OTHER_OPTION: ChoiceOption = { value: OTHER, label: 'Other', key: 'o' };

async function askQuestion(
  view: ChatView,
  { question, options, multiSelect, isClosed }: Question,
  signal: AbortSignal,
): Promise<string | null> {
  const title = toPrintable(question);
  const open = { title, lines: [], hint: 'Enter answer · Esc dismiss' };
  if (options.length === 0) return view.ask(open, signal);
  const offered = options.map(({ label, description }, at): ChoiceOption => ({
    value: label,
    label: toPrintable(label),
    key: String(at + 1),
    about: toPrintable(description),
  }));
  if (multiSelect) {
    const chosen = await view.chooseMany({ title, lines: [], options: offered }, signal);
    return chosen === null ? null : chosen.join(', ');
  }
  const own = isClosed === true ? [] : [OTHER_OPTION];
  const chosen = await view.choose({ title, lines: [], options: [...offered, ...own] }, signal);
  return chosen === OTHER ? view.ask(open, signal) : chosen;
}
