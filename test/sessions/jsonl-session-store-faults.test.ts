import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { getMessageText, createUserMessage } from '../../src/sessions/messages.ts';
import { createDirectory, until } from '../base/directory.ts';
import {
  createAssistantEntry,
  createSessionFixture,
  factsOf,
  linesOf,
  START,
  storeIn,
  createUserEntry,
} from './session-fixture.ts';
import { startProgram } from './programs.ts';

describe('a process that is killed while it appends', () => {
  it('loses no line that was appended, round after round', async () => {
    for (let round = 0; round < 4; round++) {
      const fixture = createSessionFixture();
      const program = startProgram('append-for-ever', [fixture.state, fixture.work]);
      await until(() => program.lines().length > 150 * (round + 1));
      program.child.kill('SIGKILL');
      await program.ended;
      const acknowledged = program.lines();
      const transcript = path.join(fixture.sessions, 'one', 'one.jsonl');
      const fullLines = readFileSync(transcript, 'utf8').split('\n').slice(0, -1);
      const uuids = fullLines.map((line) => (JSON.parse(line) as { uuid: string }).uuid);
      expect(uuids.slice(0, acknowledged.length)).toEqual(acknowledged);
      const resumed = fixture.store.resume('one');
      expect(resumed.messageCount).toBe(uuids.length);
      expect(
        resumed.messages.map((message) => Number.parseInt(getMessageText(message), 10)),
      ).toEqual(uuids.map((_, number) => number));
      resumed.append(createUserEntry('after'));
      expect(fixture.store.list()).toMatchObject([{ messageCount: uuids.length + 1 }]);
    }
  });

  it('may leave half a line, after which the next one stands on its own', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    const first = session.append(createUserEntry('kept'));
    const { size } = statSync(session.transcriptPath);
    session.append(createUserEntry('lost'));
    session.close();
    for (let cut = size + 1; cut < statSync(session.transcriptPath).size - 1; cut += 37) {
      const copy = fixture.store.fork('one', `cut-at-${cut}`);
      truncateSync(copy.transcriptPath, cut);
      copy.close();
      const resumed = fixture.store.resume(`cut-at-${cut}`);
      const why = 'is incomplete and was skipped';
      expect(resumed.problems).toEqual([`${copy.transcriptPath}:2 ${why}`]);
      expect(resumed.messages).toEqual([createUserMessage('kept')]);
      resumed.append(createUserEntry('after'));
      resumed.close();
      const again = fixture.store.resume(`cut-at-${cut}`);
      expect(again.messages).toEqual([createUserMessage('kept'), createUserMessage('after')]);
      expect(readFileSync(copy.transcriptPath, 'utf8')).toContain(`"parentUuid":"${first}"`);
    }
  });

  it('loses nothing between the boundary of a compaction and its summary', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    session.append(createUserEntry('hello'));
    const spot = { at: START, cwd: '/work', promptId: null };
    const summary = createUserMessage('in short');
    session.append({ ...spot, type: 'compaction', trigger: 'auto', tokensBefore: 1, summary });
    session.close();
    const lines = readFileSync(session.transcriptPath, 'utf8').split('\n');
    writeFileSync(session.transcriptPath, lines.slice(0, 2).join('\n'));
    expect(fixture.store.resume('one').messages).toEqual([createUserMessage('hello')]);
  });
});

describe('garbage in a transcript', () => {
  it('is left out and reported with its position, and all else is kept', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    session.append(createUserEntry('one'));
    const garbage = [
      '{"half":',
      '\0\0\0',
      '[1]',
      '7',
      '{"type":"user"}',
      '{"type":"new"}',
      '',
      '{}',
    ];
    appendFileSync(session.transcriptPath, `${garbage.join('\n')}\n`);
    appendFileSync(session.transcriptPath, Buffer.from([0xff, 0xfe, 0x80, 0x0a]));
    session.append(createUserEntry('two'));
    session.close();
    const resumed = fixture.store.resume('one');
    expect(resumed.messages).toEqual([createUserMessage('one'), createUserMessage('two')]);
    expect(resumed.problems).toEqual([
      `${session.transcriptPath}:2 is not JSON and was skipped`,
      `${session.transcriptPath}:3 is not JSON and was skipped`,
      `${session.transcriptPath}:4 is not a JSON object and was skipped`,
      `${session.transcriptPath}:5 is not a JSON object and was skipped`,
      `${session.transcriptPath}:6 has no message and was skipped`,
      `${session.transcriptPath}:10 is not JSON and was skipped`,
    ]);
  });

  it('is reported in a few lines, however much of it there is', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    session.close();
    writeFileSync(session.transcriptPath, 'x\n'.repeat(100_000));
    const { problems, messages } = fixture.store.resume('one');
    expect(messages).toEqual([]);
    expect(problems).toHaveLength(21);
    expect(problems.at(-1)).toBe('99980 more lines were skipped');
  });
});

describe('a line of 50 MB', () => {
  it('is written, listed and read like any other', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    const content = 'ü'.repeat(25 * 1024 * 1024);
    session.append(createUserEntry('before'));
    session.append(createUserEntry(content));
    session.append(createAssistantEntry('after'));
    session.close();
    const resumed = fixture.store.resume('one');
    expect(resumed.messages.map((message) => getMessageText(message).length)).toEqual([
      6,
      content.length,
      5,
    ]);
    resumed.append(createAssistantEntry('more'));
    expect(fixture.store.list()).toMatchObject([{ messageCount: 4, firstPrompt: 'before' }]);
  });
});

const isRoot = process.getuid?.() === 0;
const hasFullDevice =
  statSync('/dev/full', { throwIfNoEntry: false })?.isCharacterDevice() === true;

/** A file system of its own with 128 KB; null where none can be mounted. */
function mountTiny(): string | null {
  const directory = path.join(createDirectory(), 'tiny');
  mkdirSync(directory);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'tmpfs', directory]);
  if (status !== 0) return null;
  onTestFinished(() => void spawnSync('umount', ['-l', directory]));
  return directory;
}

describe('a full disk', () => {
  it.skipIf(!hasFullDevice)(
    'is reported when a message is appended, and nothing else breaks',
    () => {
      const fixture = createSessionFixture();
      const session = fixture.store.create(factsOf(fixture));
      rmSync(session.transcriptPath);
      symlinkSync('/dev/full', session.transcriptPath);
      expect(() => session.append(createUserEntry('hello'))).toThrow(
        expect.objectContaining({
          code: 'SESSION_UNWRITABLE',
          message: expect.stringMatching(/^the session cannot be stored in .*one\.jsonl: ENOSPC/u),
          hint: 'Free space and check the permissions there, or set another directory in HOOKLINE_HOME.',
        }),
      );
      rmSync(session.transcriptPath);
      session.append(createUserEntry('hello again'));
      expect(linesOf(session.transcriptPath)).toHaveLength(1);
    },
  );

  it('costs the line that did not fit, and none before or after it', (context) => {
    const tiny = mountTiny();
    if (tiny === null) return context.skip('no file system can be mounted here');
    const store = storeIn(path.join(tiny, 'state'));
    const session = store.create(factsOf({ work: tiny }));
    session.append(createUserEntry('before'));
    const full = expect.objectContaining({ code: 'SESSION_UNWRITABLE' });
    expect(() => session.append(createUserEntry('x'.repeat(200_000)))).toThrow(full);
    expect(() => store.create(factsOf({ work: tiny }, 'two'))).toThrow(full);
    expect(() => session.rename('a title')).toThrow(full);
    expect(readdirSync(path.join(tiny, 'state/sessions'))).toEqual(['one']);
    // Space is freed.
    truncateSync(session.transcriptPath, statSync(session.transcriptPath).size - 20_000);
    session.append(createUserEntry('after'));
    session.close();
    const resumed = store.resume('one');
    expect(resumed.messages).toEqual([createUserMessage('before'), createUserMessage('after')]);
    expect(resumed.problems).toHaveLength(1);
  });
});

const NOBODY = 65_534;

describe('a directory that may not be written', () => {
  it.skipIf(!isRoot)('is reported when a session is created or resumed there', () => {
    const fixture = createSessionFixture();
    fixture.store.create(factsOf(fixture)).close();
    const openTo = (directory: string, mode: number): void => {
      chownSync(directory, NOBODY, NOBODY);
      chmodSync(directory, mode);
    };
    openTo(path.dirname(fixture.state), 0o755);
    openTo(fixture.state, 0o755);
    openTo(fixture.sessions, 0o555);
    openTo(path.join(fixture.sessions, 'one'), 0o555);
    for (const file of ['session.json', 'one.jsonl']) {
      chownSync(path.join(fixture.sessions, 'one', file), NOBODY, NOBODY);
    }
    const before = process.geteuid?.() ?? 0;
    process.seteuid?.(NOBODY);
    onTestFinished(() => process.seteuid?.(before));
    const refused = expect.objectContaining({
      code: 'SESSION_UNWRITABLE',
      message: expect.stringContaining('EACCES'),
    });
    expect(() => fixture.store.create(factsOf(fixture, 'two'))).toThrow(refused);
    expect(() => fixture.store.resume('one')).toThrow(refused);
    expect(fixture.store.list()).toMatchObject([{ id: 'one', problem: null }]);
    expect(() => fixture.store.remove('one')).toThrow(
      expect.objectContaining({ code: 'CONFIG_UNWRITABLE' }),
    );
    process.seteuid?.(before);
  });
});

describe('listing while another process appends', () => {
  it('counts whole messages only, and never fewer than before', async () => {
    const fixture = createSessionFixture();
    const program = startProgram('append-for-ever', [fixture.state, fixture.work]);
    await until(() => program.lines().length > 0);
    let last = 0;
    while (last < 500) {
      const acknowledged = program.lines().length;
      const [summary] = fixture.store.list();
      expect(summary).toMatchObject({ id: 'one', problem: null, firstPrompt: '0 ' });
      const count = summary?.messageCount ?? 0;
      expect(count).toBeGreaterThanOrEqual(Math.max(last, acknowledged));
      last = count;
      await new Promise(setImmediate);
    }
  });
});

describe('a clock that jumps', () => {
  it('changes neither the order nor what is kept', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    session.append(createUserEntry('one', { at: START }));
    session.append(createUserEntry('two', { at: START - 86_400_000 }));
    session.append(createUserEntry('three', { at: Number.NaN }));
    session.append(createUserEntry('four', { at: 9e15 }));
    session.close();
    expect(fixture.store.resume('one')).toMatchObject({
      messages: ['one', 'two', 'three', 'four'].map(createUserMessage),
      lastMessageAt: START - 86_400_000,
    });
  });
});

describe('a session that is removed by hand while it is used', () => {
  it('is stored again from there on', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    session.append(createUserEntry('one'));
    rmSync(session.directory, { recursive: true });
    session.append(createUserEntry('two'));
    session.close();
    expect(fixture.store.resume('one').messages).toEqual([createUserMessage('two')]);
  });
});

describe('a transcript that cannot be looked at', () => {
  it('does not keep the session locked after it was closed', () => {
    const fixture = createSessionFixture();
    const session = fixture.store.create(factsOf(fixture));
    rmSync(session.transcriptPath);
    symlinkSync(path.basename(session.transcriptPath), session.transcriptPath);
    expect(() => session.close()).toThrow('ELOOP');
    rmSync(session.transcriptPath);
    expect(fixture.store.resume('one').messages).toEqual([]);
  });
});
