import { mkdirSync, rmSync, symlinkSync, truncateSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createDirectory, write } from '../base/directory.ts';
import {
  createAssistantEntry,
  createSessionFixture,
  factsOf,
  type SessionFixture,
  START,
  createUserEntry,
} from './session-fixture.ts';

/** A closed session in which this was asked, used this many seconds after the epoch. */
function leaveSession(
  fixture: SessionFixture,
  id: string,
  { prompt = 'hello', usedAt = 0 } = {},
): void {
  const session = fixture.store.create(factsOf(fixture, id));
  session.append(createUserEntry(prompt));
  session.append(createAssistantEntry('yes'));
  session.close();
  utimesSync(session.transcriptPath, usedAt, usedAt);
}

describe('the list of sessions', () => {
  it('has the one used last first, with its title and prompt', () => {
    const fixture = createSessionFixture();
    leaveSession(fixture, 'old', { prompt: 'first\nthing', usedAt: 1000 });
    leaveSession(fixture, 'new', { prompt: `long ${'x'.repeat(1000)}`, usedAt: 2000 });
    const rest = {
      startDirectory: fixture.work,
      model: 'test-model',
      createdAt: START,
      messageCount: 2,
      title: null,
      problem: null,
    };
    expect(fixture.store.list()).toEqual([
      { ...rest, id: 'new', firstPrompt: `long ${'x'.repeat(495)}`, lastUsedAt: 2_000_000 },
      { ...rest, id: 'old', firstPrompt: 'first\nthing', lastUsedAt: 1_000_000 },
    ]);
  });

  it('is the same for a session that is still open, or was killed', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    session.append(createUserEntry('context', { isMeta: true }));
    session.append(createUserEntry('the prompt'));
    session.append(createAssistantEntry('an answer'));
    session.append(createUserEntry('elsewhere', { agentId: 'a1' }));
    expect(fixture.store.list()).toMatchObject([{ firstPrompt: 'the prompt', messageCount: 3 }]);
    session.close();
    const resumed = fixture.store.resume('one');
    resumed.append(createUserEntry('more'));
    expect(fixture.store.list()).toMatchObject([{ firstPrompt: 'the prompt', messageCount: 4 }]);
    resumed.close();
    truncateSync(session.transcriptPath, 0);
    expect(fixture.store.list()).toMatchObject([{ messageCount: 0 }]);
  });

  it('reports what is wrong with a broken session instead of failing', () => {
    const fixture = createSessionFixture();
    for (const id of ['a', 'b', 'c', 'd']) leaveSession(fixture, id);
    rmSync(path.join(fixture.sessions, 'a/session.json'));
    write(path.join(fixture.sessions, 'b/session.json'), '{"facts": {"id": 7}}');
    rmSync(path.join(fixture.sessions, 'c/c.jsonl'));
    rmSync(path.join(fixture.sessions, 'd/d.jsonl'));
    mkdirSync(path.join(fixture.sessions, 'd/d.jsonl'));
    mkdirSync(path.join(fixture.sessions, 'e'));
    write(path.join(fixture.sessions, 'a-file'), '');
    const problems = fixture.store.list().map(({ id, problem }) => [id, problem]);
    const guessed = 'its content is recovered from the transcript';
    expect(Object.fromEntries(problems)).toEqual({
      a: `${fixture.sessions}/a/session.json is missing; ${guessed}`,
      b: `${fixture.sessions}/b/session.json is not a valid session record; ${guessed}`,
      c: 'its transcript is missing or not accessible',
      d: 'its transcript cannot be read: it is not a regular file',
      e: `${fixture.sessions}/e/session.json is missing; ${guessed}`,
    });
  });
});

describe('a session whose session.json is lost', () => {
  it('is restored from its transcript, and stored again once it was used', () => {
    const fixture = createSessionFixture();
    leaveSession(fixture, 'one', { prompt: 'the prompt' });
    write(path.join(fixture.sessions, 'one/session.json'), '{');
    const facts = {
      id: 'one',
      startDirectory: '/work',
      workspaceRoots: ['/work'],
      model: { provider: '', id: 'test-model' },
      permissionMode: 'default',
      createdAt: START,
      taskId: String(START),
      ulid: '',
    };
    const resumed = fixture.store.resume('one');
    expect(resumed).toMatchObject({ facts, messageCount: 2, cwd: '/work' });
    expect(resumed.problems).toEqual([
      `${fixture.sessions}/one/session.json is not a valid session record; its content is recovered from the transcript`,
    ]);
    resumed.close();
    expect(fixture.store.list()).toMatchObject([
      { id: 'one', firstPrompt: 'the prompt', messageCount: 2, problem: null },
    ]);
  });
});

describe('the latest session', () => {
  it('is the one of this very directory that was used last, by whatever path', () => {
    const fixture = createSessionFixture();
    leaveSession(fixture, 'older', { usedAt: 1000 });
    leaveSession(fixture, 'newer', { usedAt: 2000 });
    leaveSession({ ...fixture, work: createDirectory() }, 'elsewhere', { usedAt: 3000 });
    fixture.store.create(factsOf(fixture, 'unused')).close();
    const link = path.join(createDirectory(), 'link');
    symlinkSync(fixture.work, link);
    expect(fixture.store.findLatest(link)).toBe('newer');
    expect(fixture.store.findLatest(path.dirname(fixture.work))).toBe(null);
  });

  it('exists when its directory is gone', () => {
    const fixture = createSessionFixture();
    leaveSession(fixture, 'one');
    rmSync(fixture.work, { recursive: true });
    expect(fixture.store.findLatest(fixture.work)).toBe('one');
  });
});
