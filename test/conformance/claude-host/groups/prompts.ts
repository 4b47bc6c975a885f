import { expect } from 'vitest';
import { command, hooks } from '../../claude-config/fixture.ts';
import { fieldsAt, listAt, namedCases, observed } from '../../claude-config/recording.ts';
import { scriptOf } from '../../claude-config/scripts.ts';
import { caseFiles, recordedActs } from '../hook-programs.ts';
import { bashCalls, type HostGroup, play } from '../play.ts';
import { readAllText, attributed, readNewText, readRecordedText } from '../requests.ts';

const UPS = 'claude:user:UserPromptSubmit:case.mjs';

export const userPrompts: HostGroup = {
  name: '07-ups',
  cases: namedCases('07-ups').map((name) => ({ name, run: () => submits(name) })),
};

async function submits(name: string): Promise<void> {
  const recorded = fieldsAt(observed('07-ups'), name);
  const { requests, result, code } = await play({
    prompt: `prompt CASE_${name}`,
    settings: hooks('UserPromptSubmit', [command('node case.mjs c')]),
    files: caseFiles(recordedActs('07-ups', { hook: 'c' })),
    answer: bashCalls([]),
  });
  const records = listAt(recorded['model_sees']).map((each) => attributed(readRecordedText(each), UPS));
  expect(requests.map(readNewText)).toEqual(records);
  const ending = name === 'cont' ? 'stopped_by_hook' : 'refused';
  const { text, reason } = result;
  expect({ code, ending: result.ending, text, reason }).toEqual(
    records.length > 0
      ? { code: 0, ending: 'done', text: recorded['result'], reason: null }
      : { code: 1, ending, text: '', reason: recorded['result'] },
  );
}

export const sessionStart: HostGroup = {
  name: '08-sessionstart',
  cases: listAt(observed('08-sessionstart')).map((each) => {
    const recorded = fieldsAt(each);
    return { name: String(recorded['n']), run: () => starts(recorded) };
  }),
};

async function starts(recorded: Readonly<Record<string, unknown>>): Promise<void> {
  const name = String(recorded['n']);
  const { stdout, stderr, exit_code: exit } = fieldsAt(listAt(recorded, 'sys')[0]);
  const act = { out: String(stdout), err: String(stderr), exit: Number(exit) };
  const script = scriptOf(act, 'hook', 'sh');
  const { requests, result, code, news } = await play({
    prompt: `prompt P_${name}`,
    settings: hooks('SessionStart', [command(script.command)]),
    files: { [script.file]: script.text },
    answer: bashCalls([]),
  });
  const records = listAt(recorded, 'seen').map((request) => listAt(listAt(request)[0]));
  const id = 'claude:user:SessionStart:hook.sh';
  expect(requests.map(readAllText)).toEqual(
    records.map((messages) => messages.map((each) => attributed(readRecordedText(each), id))),
  );
  expect({ code, text: result.text, ending: result.ending }).toEqual({
    code: recorded['code'],
    text: fieldsAt(recorded, 'res')['result'],
    ending: 'done',
  });
  expect(news.filter(({ type }) => type === 'run-start').length).toBe(records.length);
}
