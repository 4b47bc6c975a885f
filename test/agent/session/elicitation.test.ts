import { describe, expect, it } from 'vitest';
import type {
  ElicitationAnswer,
  ElicitationRequest,
  Person,
} from '../../../src/agent/session-context.ts';
import type { HookEvent } from '../../../src/hooks/facts.ts';
import { exampleEntry } from '../../mcp/servers.ts';
import { createAgentFixture, type Reaction } from '../agent-fixture.ts';
import { answersIn, calls, either, on, createModelRecorder } from '../scripted-session.ts';

const SCHEMA = {
  type: 'object',
  properties: { username: { type: 'string', title: 'User' } },
  required: ['username'],
};
const QUESTION = { server: 'srv', mode: 'form', message: 'Who are you?', schema: SCHEMA };
const BOB: ElicitationAnswer = { action: 'accept', content: { username: 'bob' } };

interface Asked {
  /** Elicitation, ElicitationResult and Notification, each with what is its own. */
  readonly fired: readonly object[];
  readonly requests: readonly ElicitationRequest[];
  readonly answer: string | undefined;
}

/** Lets a server ask in a session, with these hooks and this user. */
async function ask(
  react: Reaction,
  elicit: ((request: ElicitationRequest) => Promise<ElicitationAnswer>) | null,
  tool = 'ask',
): Promise<Asked> {
  const fixture = createAgentFixture(react);
  fixture.write('~/.hookline/mcp.json', JSON.stringify({ mcpServers: { srv: exampleEntry() } }));
  const chat = createModelRecorder([calls([`mcp__srv__${tool}`, {}]), { text: 'Done.' }]);
  const requests: ElicitationRequest[] = [];
  const user: Person = {
    approve: async () => ({ isAllowed: true }),
    answer: async () => null,
    ...(elicit === null
      ? {}
      : {
          elicit: async (request) => {
            requests.push(request);
            return elicit(request);
          },
        }),
  };
  const host = await fixture.open({ model: chat.model, person: user, allow: ['mcp__srv'] });
  const { sessionId } = await host.start({});
  await host.mcpServers();
  await host.send(sessionId, 'go');
  await host.dispose();
  return { fired: fixture.fired.flatMap(ownFacts), requests, answer: answersIn(chat)[0] };
}

function ownFacts(event: HookEvent): object[] {
  switch (event.name) {
    case 'Elicitation': {
      const { name, server, mode, message, schema, url, elicitationId } = event;
      const form = schema === undefined ? {} : { schema };
      const page = url === undefined ? {} : { url, elicitationId };
      return [{ name, server, mode, message, ...form, ...page }];
    }
    case 'ElicitationResult': {
      const { name, server, mode, action, content } = event;
      return [{ name, server, mode, action, ...(content === undefined ? {} : { content }) }];
    }
    case 'Notification': {
      const { name, type, message } = event;
      return type === 'task_complete' ? [] : [{ name, type, message }];
    }
    default:
      return [];
  }
}

const FIRST = { name: 'Elicitation', ...QUESTION };
const RESULT = { name: 'ElicitationResult', server: 'srv', mode: 'form' };
const DIALOG = {
  name: 'Notification',
  type: 'elicitation_dialog',
  message: 'The MCP server srv needs your input',
};

function responded(action: string): object {
  const message = `Elicitation response for server "srv": ${action}`;
  return { name: 'Notification', type: 'elicitation_response', message };
}

const nothing: Reaction = () => undefined;

describe('a question of an MCP server', () => {
  it('is asked of the user, and hooks are called with the question and the answer', async () => {
    expect(await ask(nothing, async () => BOB)).toEqual({
      fired: [FIRST, DIALOG, { ...RESULT, ...BOB }, responded('accept')],
      requests: [QUESTION],
      answer: 'elicited:{"action":"accept","content":{"username":"bob"}}',
    });
  });

  it('may be a page to open', async () => {
    const page = {
      server: 'srv',
      mode: 'url',
      message: 'Please sign in',
      url: 'https://example.org/sign-in',
    };
    const { fired, requests, answer } = await ask(
      nothing,
      async () => ({ action: 'accept' }),
      'ask-url',
    );
    expect({ first: fired[0], requests, answer }).toEqual({
      first: { name: 'Elicitation', ...page, elicitationId: 'e1' },
      requests: [{ ...page, id: 'e1' }],
      answer: 'elicited:{"action":"accept"}',
    });
  });

  it('is declined when a hook refuses the question', async () => {
    const refuses = on('Elicitation', { effect: 'deny', reason: 'no questions' });
    expect(await ask(refuses, async () => BOB)).toEqual({
      fired: [FIRST],
      requests: [],
      answer: 'elicited:{"action":"decline"}',
    });
  });

  it('is answered by a hook in the user’s place', async () => {
    const eve = { action: 'accept', content: { username: 'eve' } };
    const answers = on('Elicitation', { answer: eve });
    expect(await ask(answers, async () => BOB)).toEqual({
      fired: [FIRST],
      requests: [],
      answer: 'elicited:{"action":"accept","content":{"username":"eve"}}',
    });
  });

  it('uses the answer as hooks changed it, or is declined by them', async () => {
    const changes = on('ElicitationResult', {
      answer: { action: 'accept', content: { username: 'carol' } },
    });
    const refuses = on('ElicitationResult', { effect: 'deny', reason: 'secret' });
    const [changed, refused] = [
      await ask(changes, async () => BOB),
      await ask(either(refuses), async () => BOB),
    ];
    expect([changed.answer, changed.fired.at(-1), refused.answer, refused.fired.at(-1)]).toEqual([
      'elicited:{"action":"accept","content":{"username":"carol"}}',
      responded('accept'),
      'elicited:{"action":"decline"}',
      responded('decline'),
    ]);
  });

  it('is declined when the user cannot be asked, or cannot be reached', async () => {
    const [unable, failing] = [
      await ask(nothing, null),
      await ask(nothing, () => Promise.reject(new TypeError('no window'))),
    ];
    expect([unable, failing]).toEqual([
      { fired: [FIRST], requests: [], answer: 'elicited:{"action":"decline"}' },
      { fired: [FIRST, DIALOG], requests: [QUESTION], answer: 'elicited:{"action":"decline"}' },
    ]);
  });
});
