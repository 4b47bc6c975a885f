import type { ApprovalRequest, Person } from '../../../agent/world.ts';
import type { Question } from '../../../agent/tools/workbench.ts';
import { oneLine, printable } from '../../words/print.ts';
import type { ChatView, ChoiceOption } from '../view/view.ts';

/** The person at the terminal. */
export function personAt(view: ChatView, cwd: () => string): Person {
  return {
    async approve(request, signal) {
      const { callLines, updateWords } = await import('./approval-words.ts');
      const lasting = updateWords(request.suggestions);
      const answer = await view.choose(
        {
          title: `${oneLine(request.tool)}: may it?`,
          lines: [...callLines(request, cwd()), ...reasonLines(request)],
          options: approvalOptions(lasting),
        },
        signal,
      );
      if (answer === 'once') return { isAllowed: true };
      if (answer === 'session') return { isAllowed: true, updates: request.suggestions };
      if (answer === null) return { isAllowed: false };
      const reason = (await view.ask(WHY, signal))?.trim() ?? '';
      return reason === '' ? { isAllowed: false } : { isAllowed: false, reason };
    },
    async answer(questions, signal) {
      const answers: Record<string, string> = {};
      for (const question of questions) {
        const answer = await askOne(view, question, signal);
        if (answer === null) return null;
        answers[question.question] = answer;
      }
      return answers;
    },
    async elicit(request, signal) {
      const { elicit } = await import('./elicitation.ts');
      return elicit(view, request, signal);
    },
  };
}

const WHY = {
  title: 'Denied. Why?',
  lines: [],
  hint: 'The agent is told what you write; enter alone tells it nothing more.',
};

function reasonLines({ reason }: ApprovalRequest): readonly string[] {
  return reason === '' ? [] : [`(${printable(reason)})`];
}

function approvalOptions(lasting: string): readonly ChoiceOption[] {
  const forSession = { value: 'session', key: 'a', label: 'Allow for this session' };
  return [
    { value: 'once', key: 'y', label: 'Allow once' },
    ...(lasting === '' ? [] : [{ ...forSession, about: lasting }]),
    { value: 'deny', key: 'n', label: 'Deny, and say why' },
  ];
}

const OWN_WORDS = '\u0000own';
const IN_OWN_WORDS: ChoiceOption = { value: OWN_WORDS, label: 'In your own words', key: 'o' };

async function askOne(
  view: ChatView,
  { question, options, multiSelect, isClosed }: Question,
  signal: AbortSignal,
): Promise<string | null> {
  const title = printable(question);
  const open = { title, lines: [], hint: 'Enter answers; esc dismisses the question.' };
  if (options.length === 0) return view.ask(open, signal);
  const offered = options.map(({ label, description }, at): ChoiceOption => ({
    value: label,
    label: printable(label),
    key: String(at + 1),
    about: printable(description),
  }));
  if (multiSelect) {
    const chosen = await view.chooseSome({ title, lines: [], options: offered }, signal);
    return chosen === null ? null : chosen.join(', ');
  }
  const own = isClosed === true ? [] : [IN_OWN_WORDS];
  const chosen = await view.choose({ title, lines: [], options: [...offered, ...own] }, signal);
  return chosen === OWN_WORDS ? view.ask(open, signal) : chosen;
}
