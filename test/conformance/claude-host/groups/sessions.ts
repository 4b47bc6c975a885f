import { expect } from 'vitest';
import { command, group, hooks } from '../../claude-config/fixture.ts';
import { listAt, observed } from '../../claude-config/recording.ts';
import { createRecorderCommand } from '../hook-programs.ts';
import { bashCalls, type HostGroup, type Played, play } from '../play.ts';
import { listRecordedEvents, readNewText, readRecordedText } from '../requests.ts';

const keeps = (line: string): object => command(`echo '${line}' >> "$CLAUDE_ENV_FILE"`);

/** Variables that hooks leave reach every later command, and no hook. */
export const envFile: HostGroup = {
  name: '17-envfile',
  cases: [{ name: 'seen', run: seesVariables }],
};

async function seesVariables(): Promise<void> {
  const { requests, workspace, read } = await play({
    prompt: 'go',
    settings: {
      hooks: {
        SessionStart: [
          group([
            keeps('export EXPORTED=one'),
            keeps('MINE=plain_noexport'),
            keeps('PATH=$PATH:/usr/local/bin'),
          ]),
        ],
        PreToolUse: [
          group([command('echo "${EXPORTED:-unset}" >> "$CLAUDE_PROJECT_DIR/hook.log"')]),
        ],
        CwdChanged: [group([keeps('export CHANGED=two')])],
      },
    },
    files: { 'd/.keep': '' },
    answer: bashCalls([
      String.raw`echo "E=$EXPORTED M=$MINE P=$(printenv PATH | tr : '\n' | tail -n 1) X=$(env | grep -c '^MINE=')"`,
      'cd d',
      'echo "C=$CHANGED E=$EXPORTED"; pwd',
    ]),
  });
  const recorded = listAt(observed('17-envfile'), 'seen').map((each) =>
    // Here `set -a` makes a variable of what hooks only name.
    readRecordedText(each).replace('X=0', 'X=1').replace('<RUN>/proj', workspace.root),
  );
  expect(requests.slice(1).map(readNewText)).toEqual(recorded);
  expect(read('hook.log')).toBe('unset\nunset\nunset\n');
}

/** A command that ends when a recorder wrote this down, or after half a minute. */
function waitFor(text: string): string {
  return `i=0; while ! grep -q '${text}' told.log 2>/dev/null && [ $i -lt 300 ]; do sleep 0.1; i=$((i+1)); done`;
}

/** The next request would leave no room for an answer. */
const FULL = 190_000;

async function compacting(text: string): Promise<Played> {
  const recorder = (name: string): object => group([command(createRecorderCommand(name))]);
  return play({
    prompt: 'go',
    files: { 'CLAUDE.md': 'Be brief.' },
    settings: {
      hooks: {
        PreCompact: [group([command(createRecorderCommand('pc')), command(text)])],
        SessionStart: [recorder('start')],
        PostCompact: [recorder('post')],
        InstructionsLoaded: [recorder('loaded')],
      },
    },
    answer: (request, index) => {
      if (JSON.stringify(request.messages.at(-1)).includes('Write a summary')) {
        return { text: 'SUMMARY' };
      }
      if (index === 0) {
        return { calls: [{ name: 'Bash', input: { command: 'echo much' } }], inputTokens: FULL };
      }
      // Hooks of InstructionsLoaded run in the background, and the end of the session ends them.
      const isSummed = request.messages.length === 1;
      return isSummed
        ? { calls: [{ name: 'Bash', input: { command: waitFor('"load_reason":"compact"') } }] }
        : { text: 'final' };
    },
  });
}

export const preCompact: HostGroup = {
  name: '40-precompact',
  cases: [
    { name: 'exit2', run: () => blocks('echo "no compaction please" >&2; exit 2', 0) },
    {
      name: 'json block',
      run: () => blocks(`echo '{"decision":"block","reason":"json block"}'`, 1),
    },
    { name: 'stdout', run: instructs },
  ],
};

/** The conversation stays whole, and the user gets the reason. */
async function blocks(text: string, index: number): Promise<void> {
  const { requests, result, news, payloads: reports } = await compacting(text);
  const notices = news.filter(({ type }) => type === 'notice').map((each) => String(each['text']));
  const [, blocked] = listAt(listAt(observed('40-precompact'), 'out')[index]);
  const recorded = String(listAt(blocked)[2]).replace(/\[node rec.*\]: /u, '[CMD]: ');
  expect(notices.map((each) => withoutHook(each, text))).toEqual([recorded]);
  expect(requests.map(readNewText)).toEqual(['go', '[TOOL_RESULT] much']);
  expect(reports.filter(({ name }) => name === 'post')).toEqual([]);
  expect(result.text).toBe('final');
}

/** Who it is from: by its command what it wrote to stderr, else by its id. */
function withoutHook(notice: string, text: string): string {
  return notice.replace(text, 'CMD').replace(/claude:user:PreCompact:\S+(?=\])/u, 'CMD');
}

async function instructs(): Promise<void> {
  const played = await compacting('echo extra plain instructions from hook');
  const { requests, result, payloads: reports } = played;
  expect(readNewText(requests[1])).toMatch(
    /\n\nAdditional Instructions:\nextra plain instructions from hook$/u,
  );
  expect(requests[1]?.tools ?? []).toEqual([]);
  expect(requests[2]?.messages.length).toBe(1);
  expect(readNewText(requests[2])).toContain('\n\nSUMMARY\n\n');
  expect({ text: result.text, requests: requests.length }).toEqual({ text: 'final', requests: 4 });
  const from = listRecordedEvents(played).indexOf('PreCompact:pc');
  expect(listRecordedEvents(played).slice(from)).toEqual([
    'PreCompact:pc',
    'SessionStart:start',
    'PostCompact:post',
    'InstructionsLoaded:loaded',
  ]);
  const payloads = reports.slice(from).map(({ payload }) => payload);
  expect(payloads[0]).toMatchObject({ trigger: 'auto' });
  expect(payloads[1]).toMatchObject({ source: 'compact' });
  expect(payloads[2]).toMatchObject({ trigger: 'auto', compact_summary: 'SUMMARY' });
  expect(payloads[3]).toMatchObject({ load_reason: 'compact' });
}

/** Files that a matcher names, or that a hook asked for, are watched. */
export const reload: HostGroup = {
  name: '43-reload',
  cases: [
    { name: 'fc', run: () => firesFileChanged({}) },
    { name: 'fc: by watchPaths', run: () => firesFileChanged({ isAskedFor: true }) },
  ],
};

async function firesFileChanged({ isAskedFor = false }): Promise<void> {
  const asks = `echo "{\\"hookSpecificOutput\\":{\\"hookEventName\\":\\"SessionStart\\",\\"watchPaths\\":[\\"$PWD/dyn.txt\\"]}}"`;
  const fileChangedHooks = hooks('FileChanged', [command(createRecorderCommand('fc'))], isAskedFor ? undefined : 'dyn.txt');
  const { payloads: reports, workspace, result } = await play({
    prompt: 'go',
    settings: {
      hooks: {
        ...('hooks' in fileChangedHooks && typeof fileChangedHooks.hooks === 'object' ? fileChangedHooks.hooks : {}),
        ...(isAskedFor ? { SessionStart: [group([command(asks)])] } : {}),
      },
    },
    files: { 'dyn.txt': 'one', 'other.txt': 'one' },
    answer: bashCalls([`echo two > other.txt; echo two > dyn.txt; ${waitFor('FileChanged')}`]),
  });
  expect(result.text).toBe('final');
  expect(reports.map(({ name, payload }) => [name, payload['file_path'], payload['event']])).toEqual([
    ['fc', `${workspace.root}/dyn.txt`, 'change'],
  ]);
}
