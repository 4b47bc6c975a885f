import { readdirSync, utimesSync } from 'node:fs';
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
  const fixture = createSessionFixture();
  const session = fixture.store.create(factsOf(fixture));
  session.append(createUserEntry('hello'));
  session.close();
  return fixture;
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
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    expect(() => fixture.store.resume('one')).toThrow(
      expect.objectContaining({
        code: 'SESSION_BUSY',
        message: 'the session one is in use by this process already',
        hint: 'Wait until it has ended or end it, or continue with a copy: `--fork`.',
      }),
    );
    session.close();
    fixture.store.resume('one').close();
    expect(locksIn(fixture)).toEqual([]);
  });

  it('is busy for others, who get the holder’s process id, and may fork but not remove it', async () => {
    const fixture = closedSession();
    const holder = startProgram('hold-session', [fixture.state, 'one']);
    expect(await answerOf(holder)).toBe('held');
    const busy = expect.objectContaining({
      code: 'SESSION_BUSY',
      message: `the session one is in use by process ${holder.child.pid}`,
    });
    expect(() => fixture.store.resume('one')).toThrow(busy);
    expect(() => fixture.store.remove('one')).toThrow(busy);
    expect(fixture.store.fork('one', 'two').messageCount).toBe(1);
    expect(fixture.store.list().map(({ problem }) => problem)).toEqual([null, null]);
    holder.child.stdin?.end();
    await holder.ended;
    fixture.store.resume('one').close();
  });

  it('is free again when its process was killed', async () => {
    const fixture = closedSession();
    const holder = startProgram('hold-session', [fixture.state, 'one']);
    expect(await answerOf(holder)).toBe('held');
    holder.child.kill('SIGKILL');
    await holder.ended;
    expect(locksIn(fixture)).toHaveLength(1);
    fixture.store.resume('one');
    expect(locksIn(fixture)).toEqual([expect.stringContaining(`lock-${process.pid}-`)]);
  });

  it('is not locked by a process that only has the reused pid of the holder', () => {
    const fixture = closedSession();
    write(path.join(fixture.sessions, `one/lock-${process.pid}-1`), '');
    write(path.join(fixture.sessions, 'one/lock-1-1'), '');
    fixture.store.resume('one').close();
    expect(locksIn(fixture)).toEqual([]);
  });

  it('is locked by a process in another process namespace while that renews its lock', () => {
    const fixture = closedSession();
    const lock = write(path.join(fixture.sessions, 'one/lock-1-1-n1'), '');
    expect(() => fixture.store.resume('one')).toThrow(
      'the session one is in use by process 1 of another process namespace, such as a container',
    );
    const anHourAgo = Date.now() / 1000 - 3600;
    utimesSync(lock, anHourAgo, anHourAgo);
    fixture.store.resume('one').close();
    expect(locksIn(fixture)).toEqual([]);
  });

  it('is locked by one of many processes that want it at once, or by none', async () => {
    const fixture = closedSession();
    const programs = Array.from({ length: 6 }, () =>
      startProgram('hold-session', [fixture.state, 'one']),
    );
    const answers = await Promise.all(programs.map(answerOf));
    expect(answers.filter((answer) => answer === 'held').length).toBeLessThanOrEqual(1);
    expect(new Set(answers)).toEqual(
      new Set([...answers.filter((answer) => answer === 'held'), 'SESSION_BUSY']),
    );
  });
});
