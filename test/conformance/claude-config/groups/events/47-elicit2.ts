import { expect } from 'vitest';
import { command, expectVerdict, type Group, group, type OpenFixture, type Fixture } from '../../fixture.ts';

const SCHEMA = {
  type: 'object',
  properties: { username: { type: 'string', title: 'User' } },
  required: ['username'],
};
const QUESTION = { server: 'srv', message: 'Who are you?', mode: 'form', schema: SCHEMA };
const ANSWER = { server: 'srv', mode: 'form', action: 'accept', content: { username: 'bob' } };

const answers = (event: string, fields: object): string =>
  `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: event, ...fields } })}'`;

async function elicitation(openFixture: OpenFixture, own: Readonly<Record<string, string>>): Promise<Fixture> {
  const records = (name: string): object => command(`cat > ${name}.json`);
  const all = ['Elicitation', 'ElicitationResult', 'Notification'].map((event) => {
    const more = own[event];
    return [
      event,
      [
        group(
          [records(event), ...(more === undefined ? [] : [command(more)])],
          'srv|elicitation_response',
        ),
      ],
    ];
  });
  return openFixture({ project: { hooks: Object.fromEntries(all) } });
}

export const elicitations: Group = {
  name: '47-elicit2',
  cases: [
    { name: 'accept', run: passesAnswer },
    { name: 'decline by Elicitation', run: declinesQuestion },
    { name: 'decline by ElicitationResult', run: declinesAnswer },
    { name: 'answers for the user', run: answersQuestion },
  ],
};

async function passesAnswer(openFixture: OpenFixture): Promise<void> {
  const fixture = await elicitation(openFixture, {});
  expectVerdict(await fixture.fire('Elicitation', QUESTION), {});
  expectVerdict(await fixture.fire('ElicitationResult', ANSWER), {});
  const message = 'Elicitation response for server "srv": accept';
  await fixture.fire('Notification', { type: 'elicitation_response', message });
  expect(fixture.payload('Elicitation.json')).toMatchObject({
    hook_event_name: 'Elicitation',
    mcp_server_name: 'srv',
    message: 'Who are you?',
    mode: 'form',
    requested_schema: SCHEMA,
  });
  expect(fixture.payload('ElicitationResult.json')).toMatchObject({
    hook_event_name: 'ElicitationResult',
    mcp_server_name: 'srv',
    mode: 'form',
    action: 'accept',
    content: { username: 'bob' },
  });
  expect(fixture.payload('Notification.json')).toMatchObject({
    hook_event_name: 'Notification',
    message,
    notification_type: 'elicitation_response',
  });
}

async function declinesQuestion(openFixture: OpenFixture): Promise<void> {
  const declines = answers('Elicitation', { action: 'decline' });
  const fixture = await elicitation(openFixture, { Elicitation: declines });
  expectVerdict(await fixture.fire('Elicitation', QUESTION), {
    changes: { answer: { action: 'decline' } },
  });
}

async function declinesAnswer(openFixture: OpenFixture): Promise<void> {
  const refuses = 'echo never >&2; exit 2';
  const fixture = await elicitation(openFixture, { ElicitationResult: refuses });
  expectVerdict(await fixture.fire('ElicitationResult', ANSWER), {
    effect: 'deny',
    reasons: [`[${refuses}]: never`],
  });
}

async function answersQuestion(openFixture: OpenFixture): Promise<void> {
  const accepts = answers('Elicitation', { action: 'accept', content: { username: 'eve' } });
  const fixture = await elicitation(openFixture, { Elicitation: accepts });
  expectVerdict(await fixture.fire('Elicitation', QUESTION), {
    changes: { answer: { action: 'accept', content: { username: 'eve' } } },
  });
}
