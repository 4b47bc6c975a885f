import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { until, write } from '../base/directory.ts';
import {
  createSessionFixture,
  factsOf,
  type SessionFixture,
  createUserEntry,
} from './session-fixture.ts';
import { type Program, startProgram } from './programs.ts';

function closedSession(): SessionFixture {
  const place = createSessionFixture();
  const session = place.store.create(factsOf(place));
  session.append(createUserEntry('hello'));
  session.close();
  return place;
}

function locksIn({ sessions }: SessionFixture): readonly string[] {
  return readdirSync(path.join(sessions, 'one')).filter((name) => name.startsWith('lock'));
}

async function answerOf(program: Program): Promise<string | undefined> {
  await until(() => program.lines().length > 0);
  return program.lines()[0];
}

describe('a session that is being used', () => {
  it('is locked for the same process until it is closed', () => {
    const place = createSessionFixture();
    const session = place.store.create(factsOf(place));
    expect(() => place.store.resume('one')).toThrow(
      expect.objectContaining({
        code: 'SESSION_BUSY',
        message: 'the session one is in use by this process already',
        hint: 'Wait until it has ended or end it, or continue with a copy: `--fork`.',
      }),
    );
    session.close();
    place.store.resume('one').close();
    expect(locksIn(place)).toEqual([]);
  });

  it('is busy for others, who get the holder’s process id, and may fork but not remove it', async () => {
    const place = closedSession();
    const holder = startProgram('hold-session', [place.state, 'one']);
    expect(await answerOf(holder)).toBe('held');
    const busy = expect.objectContaining({
      code: 'SESSION_BUSY',
      message: `the session one is in use by process ${holder.child.pid}`,
    });
    expect(() => place.store.resume('one')).toThrow(busy);
    expect(() => place.store.remove('one')).toThrow(busy);
    expect(place.store.fork('one', 'two').messageCount).toBe(1);
    expect(place.store.list().map(({ problem }) => problem)).toEqual([null, null]);
    holder.child.stdin?.end();
    await holder.ended;
    place.store.resume('one').close();
  });

  it('is free again when its process was killed', async () => {
    const place = closedSession();
    const holder = startProgram('hold-session', [place.state, 'one']);
    expect(await answerOf(holder)).toBe('held');
    holder.child.kill('SIGKILL');
    await holder.ended;
    expect(locksIn(place)).toHaveLength(1);
    place.store.resume('one');
    expect(locksIn(place)).toEqual([expect.stringContaining(`lock-${process.pid}-`)]);
  });

  it('is not locked by a process that only has the reused pid of the holder', () => {
    const place = closedSession();
    write(path.join(place.sessions, `one/lock-${process.pid}-1`), '');
    write(path.join(place.sessions, 'one/lock-1-1'), '');
    place.store.resume('one').close();
    expect(locksIn(place)).toEqual([]);
  });

  it('is locked by one of many processes that want it at once, or by none', async () => {
    const place = closedSession();
    const programs = Array.from({ length: 6 }, () =>
      startProgram('hold-session', [place.state, 'one']),
    );
    const answers = await Promise.all(programs.map(answerOf));
    expect(answers.filter((answer) => answer === 'held').length).toBeLessThanOrEqual(1);
    expect(new Set(answers)).toEqual(
      new Set([...answers.filter((answer) => answer === 'held'), 'SESSION_BUSY']),
    );
  });
});
