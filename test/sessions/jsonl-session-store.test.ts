import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Message, createUserMessage } from '../../src/sessions/messages.ts';
import { createDirectory, write } from '../base/directory.ts';
import {
  createAssistantEntry,
  createSessionFixture,
  factsOf,
  linesOf,
  createMessageEntry,
  START,
  storeIn,
  createUserEntry,
} from './session-fixture.ts';

const CALL = { type: 'tool_use', id: 'c1', name: 'Bash', input: { command: 'ls' } } as const;

const CONVERSATION: readonly Message[] = [
  createUserMessage('what is here?'),
  { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: 's' }, CALL] },
  {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'a\nb', is_error: false }],
  },
  { role: 'assistant', content: [{ type: 'text', text: 'two files: ü 🪝' }] },
];

const UUID = expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/u);

function modeOf(file: string): string {
  return (statSync(file).mode & 0o777).toString(8);
}

describe('a created session', () => {
  it('has a directory of its own that only its owner can read', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    session.append(createUserEntry('hello', { agentId: 'a/1' }));
    const directory = path.join(fixture.sessions, 'one');
    expect(session).toMatchObject({
      facts: factsOf(fixture),
      directory,
      transcriptPath: path.join(directory, 'one.jsonl'),
    });
    const agent = path.join(directory, 'subagents', 'agent-a-1.jsonl');
    expect(session.agentTranscriptPath('a/1')).toBe(agent);
    const files = [session.transcriptPath, path.join(directory, 'session.json'), agent];
    expect(files.map(modeOf)).toEqual(['600', '600', '600']);
    const directories = [fixture.state, fixture.sessions, directory, path.dirname(agent)];
    expect(directories.map(modeOf)).toEqual(['700', '700', '700', '700']);
    expect(readFileSync(session.transcriptPath, 'utf8')).toBe('');
  });

  it('writes lines as Claude does, each with the id of the one before it', () => {
    const fixture = createSessionFixture({ '.git/HEAD': 'ref: refs/heads/topic/one\n' });
    const session = fixture.store.create(factsOf(fixture));
    const first = session.append(createUserEntry('hello', { promptId: 'p1' }));
    const usage = { input_tokens: 3, output_tokens: 4, cache_read_input_tokens: 5 };
    const second = session.append(
      createMessageEntry({ role: 'assistant', content: [CALL] }, { model: 'other-model', usage }),
    );
    const result = { type: 'tool_result', tool_use_id: 'c1', content: 'a' } as const;
    const third = session.append(
      createMessageEntry({ role: 'user', content: [result] }, { toolUseResult: { stdout: 'a' } }),
    );
    session.append(createUserEntry('from a hook', { isMeta: true }));
    const every = {
      isSidechain: false,
      userType: 'external',
      cwd: '/work',
      sessionId: 'one',
      version: '1.2.3',
      gitBranch: 'topic/one',
      uuid: UUID,
      timestamp: '2026-01-02T03:04:05.006Z',
    };
    expect(linesOf(session.transcriptPath)).toEqual([
      {
        ...every,
        parentUuid: null,
        type: 'user',
        message: { role: 'user', content: 'hello' },
        promptId: 'p1',
        uuid: first,
      },
      {
        ...every,
        parentUuid: first,
        type: 'assistant',
        message: {
          id: expect.stringMatching(/^msg_[\da-f]{32}$/u),
          type: 'message',
          role: 'assistant',
          model: 'other-model',
          content: [CALL],
          stop_reason: 'tool_use',
          stop_sequence: null,
          usage,
        },
        uuid: second,
      },
      {
        ...every,
        parentUuid: second,
        type: 'user',
        message: { role: 'user', content: [result] },
        toolUseResult: { stdout: 'a' },
        uuid: third,
      },
      {
        ...every,
        parentUuid: third,
        type: 'user',
        message: { role: 'user', content: 'from a hook' },
        isMeta: true,
      },
    ]);
  });

  it('writes compactions, deferrals and notes as system lines', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    const spot = { at: START, cwd: '/work', promptId: null };
    const before = session.append(createUserEntry('hello'));
    const summary = createUserMessage('we said hello');
    session.append({ ...spot, type: 'compaction', trigger: 'auto', tokensBefore: 90, summary });
    session.append({ ...spot, type: 'deferral', call: CALL });
    session.append({ ...spot, type: 'note', level: 'error', text: 'the model failed' });
    const system = { type: 'system', isMeta: false, gitBranch: '' };
    expect(linesOf(session.transcriptPath)).toMatchObject([
      { uuid: before },
      {
        ...system,
        subtype: 'compact_boundary',
        level: 'info',
        content: 'Conversation compacted',
        parentUuid: null,
        logicalParentUuid: before,
        compactMetadata: { trigger: 'auto', preTokens: 90 },
      },
      {
        type: 'user',
        message: { role: 'user', content: 'we said hello' },
        isCompactSummary: true,
        isVisibleInTranscriptOnly: true,
      },
      { ...system, subtype: 'tool_deferred', level: 'info', toolUse: CALL },
      { ...system, subtype: 'informational', level: 'error', content: 'the model failed' },
    ]);
  });

  it('writes into each line the branch that is checked out then', () => {
    const fixture = createSessionFixture({ '.git/HEAD': 'ref: refs/heads/main\n' });
    const session = fixture.store.create(factsOf(fixture));
    session.append(createUserEntry('one'));
    const head = write(path.join(fixture.work, '.git/HEAD'), 'abcdef\n');
    utimesSync(head, 1, 1);
    session.append(createUserEntry('two'));
    expect(linesOf(session.transcriptPath)).toMatchObject([
      { gitBranch: 'main' },
      { gitBranch: 'HEAD' },
    ]);
  });

  it('keeps what a sub-agent says in a transcript of its own', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    session.append(createUserEntry('hello'));
    const first = session.append(createUserEntry('look', { agentId: 'a1' }));
    session.append(createAssistantEntry('seen', { agentId: 'a1' }));
    expect(linesOf(session.agentTranscriptPath('a1'))).toMatchObject([
      { isSidechain: true, agentId: 'a1', parentUuid: null, uuid: first },
      { isSidechain: true, agentId: 'a1', parentUuid: first },
    ]);
    expect(linesOf(session.transcriptPath)).toHaveLength(1);
  });

  it('refuses an id that is taken, or that leads elsewhere, and leaves nothing behind', () => {
    const fixture = createSessionFixture();
    fixture.store.create(factsOf(fixture)).append(createUserEntry('hello'));
    for (const id of [
      'one',
      '..',
      '../up',
      '/etc',
      'a/b',
      '',
      '.hidden',
      'x'.repeat(200),
      'a\0b',
    ]) {
      expect(() => fixture.store.create(factsOf(fixture, id))).toThrow(
        expect.objectContaining({ code: 'SESSION_UNWRITABLE' }),
      );
    }
    expect(readdirSync(fixture.sessions)).toEqual(['one']);
    expect(linesOf(path.join(fixture.sessions, 'one/one.jsonl'))).toHaveLength(1);
  });

  it('accepts no more lines once it is closed', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    session.close();
    session.close();
    expect(() => session.append(createUserEntry('late'))).toThrow(
      expect.objectContaining({ code: 'SESSION_UNWRITABLE' }),
    );
  });
});

describe('a resumed session', () => {
  it.each(['', 'one.jsonl', 'subagents'])(
    'writes nothing through a link that somebody put there: one/%s',
    (name) => {
      const fixture = createSessionFixture({ 'precious/one.jsonl': 'precious\n' });
      const precious = path.join(fixture.work, 'precious');
      if (name !== '') fixture.store.create(factsOf(fixture)).close();
      const place = path.join(fixture.sessions, 'one', name);
      mkdirSync(path.dirname(place), { recursive: true });
      rmSync(place, { recursive: true, force: true });
      symlinkSync(name === 'one.jsonl' ? path.join(precious, name) : precious, place);
      expect(() => fixture.store.resume('one')).toThrow(
        `the session should be stored in ${fixture.sessions}/one, found a link at ${place.replace(/\/$/, '')}`,
      );
      expect(readdirSync(precious)).toEqual(['one.jsonl']);
      expect(readFileSync(path.join(precious, 'one.jsonl'), 'utf8')).toBe('precious\n');
    },
  );

  it('goes on from exactly the stored messages', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    for (const message of CONVERSATION) session.append(createMessageEntry(message));
    session.append(
      createAssistantEntry('more', {
        cwd: '/elsewhere',
        at: START + 5,
        usage: { input_tokens: 9 },
      }),
    );
    session.rename('a title');
    session.close();
    const { append, agentTranscriptPath, rename, close, ...resumed } = fixture.store.resume('one');
    expect(resumed).toEqual({
      facts: factsOf(fixture),
      directory: session.directory,
      transcriptPath: session.transcriptPath,
      messages: [...CONVERSATION, { role: 'assistant', content: [{ type: 'text', text: 'more' }] }],
      messageCount: 5,
      cwd: '/elsewhere',
      lastMessageAt: START + 5,
      title: 'a title',
      deferred: null,
      contextTokens: 9,
      problems: [],
    });
    expect([append, agentTranscriptPath, rename, close].map((each) => typeof each)).toEqual(
      Array.from({ length: 4 }, () => 'function'),
    );
  });

  it('begins with the summary of what was compacted, and counts everything', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    const spot = { at: START, cwd: '/work', promptId: null };
    session.append(createUserEntry('long ago'));
    session.append(createAssistantEntry('indeed', { usage: { input_tokens: 9000 } }));
    const summary = createUserMessage('in short');
    session.append({ ...spot, type: 'compaction', trigger: 'manual', tokensBefore: 9, summary });
    session.append(createUserEntry('and now?'));
    session.close();
    expect(fixture.store.resume('one')).toMatchObject({
      messages: [summary, createUserMessage('and now?')],
      messageCount: 4,
      contextTokens: 0,
    });
  });

  it('knows the deferred call until another message follows it', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    const spot = { at: START, cwd: '/work', promptId: null };
    session.append(createMessageEntry({ role: 'assistant', content: [CALL] }));
    session.append({ ...spot, type: 'deferral', call: CALL });
    session.append({ ...spot, type: 'note', level: 'info', text: 'ended' });
    session.close();
    const resumed = fixture.store.resume('one');
    expect(resumed.deferred).toEqual(CALL);
    resumed.append(createUserEntry('never mind'));
    resumed.close();
    expect(fixture.store.resume('one').deferred).toBe(null);
  });

  it('is written on after its last line', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    const first = session.append(createUserEntry('hello'));
    session.close();
    const resumed = fixture.store.resume('one');
    resumed.append(createAssistantEntry('hi'));
    expect(linesOf(session.transcriptPath)).toMatchObject([
      { uuid: first },
      { parentUuid: first, type: 'assistant' },
    ]);
  });

  it('is unknown when there is none, wherever the id leads', () => {
    const fixture = createSessionFixture();
    fixture.store.create(factsOf(fixture)).close();
    write(path.join(fixture.state, 'trust.json'), '{}');
    for (const id of [
      'two',
      '',
      '.',
      '..',
      '../sessions/one',
      'one/',
      path.join(fixture.sessions, 'one'),
    ]) {
      for (const use of [fixture.store.resume, fixture.store.remove]) {
        expect(() => use(id)).toThrow(expect.objectContaining({ code: 'SESSION_UNKNOWN' }));
      }
    }
    expect(existsSync(path.join(fixture.state, 'trust.json'))).toBe(true);
  });
});

describe('a forked session', () => {
  it('is a copy with the id of its original, also of one that is in use', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    session.append(createUserEntry('hello'));
    session.rename('a title');
    const fork = fixture.store.fork('one', 'two');
    fork.append(createAssistantEntry('from the copy'));
    session.append(createAssistantEntry('from the original'));
    expect(fork).toMatchObject({
      facts: { ...factsOf(fixture, 'two'), forkedFrom: 'one', createdAt: START },
      directory: path.join(fixture.sessions, 'two'),
      messages: [createUserMessage('hello')],
      messageCount: 1,
      title: 'a title',
    });
    session.close();
    fork.close();
    expect(fixture.store.resume('one').messages[1]).toMatchObject({
      content: [{ text: 'from the original' }],
    });
    expect(fixture.store.resume('two').messages[1]).toMatchObject({
      content: [{ text: 'from the copy' }],
    });
  });

  it('needs an id that is free and a session that is there', () => {
    const fixture = createSessionFixture();
    fixture.store.create(factsOf(fixture)).close();
    expect(() => fixture.store.fork('one', 'one')).toThrow(
      expect.objectContaining({ code: 'SESSION_UNWRITABLE' }),
    );
    expect(() => fixture.store.fork('none', 'two')).toThrow(
      expect.objectContaining({ code: 'SESSION_UNKNOWN' }),
    );
    expect(() => fixture.store.fork('one', '../two')).toThrow(
      expect.objectContaining({ code: 'SESSION_UNWRITABLE' }),
    );
  });
});

describe('a removed session', () => {
  it('is gone with everything that belongs to it', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    write(path.join(session.directory, 'tool-results/long.txt'), 'x');
    session.close();
    fixture.store.remove('one');
    expect(readdirSync(fixture.sessions)).toEqual([]);
    expect(storeIn(path.join(createDirectory(), 'none')).list()).toEqual([]);
  });
});
