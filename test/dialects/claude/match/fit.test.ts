import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CommandEntry } from '../../../../src/dialects/claude/entry.ts';
import { compileEntryMatcher } from '../../../../src/dialects/claude/match/entry-matcher.ts';
import type { HookEvent } from '../../../../src/hooks/facts.ts';
import { engineOf, handler, MOMENT } from '../../../hooks/handlers.ts';
import { callEvent, entryOf, isAsked, whyNot } from './match-entries.ts';

describe('the views of a tool', () => {
  test.each([
    ['Bash', 'execute_command', { command: 'ls' }],
    ['Bash', 'run_commands', { commands: ['ls'] }],
    ['execute_command', 'Bash', { command: 'ls' }],
    ['run_commands', 'Bash', { command: 'ls' }],
    ['Edit|Write', 'replace_in_file', { path: 'a', diff: '' }],
    ['write_to_file', 'Write', { file_path: '/ws/a', content: '' }],
    ['Task', 'Agent', { prompt: 'x', subagent_type: 'y' }],
    ['^Task$', 'Agent', { prompt: 'x', subagent_type: 'y' }],
    ['^Bash$', 'execute_command', { command: 'ls' }],
    ['mcp__srv__.*', 'use_mcp_tool', { server_name: 'srv', tool_name: 'echo', arguments: '{}' }],
  ])('%s matches a call of %s', (matcher, name, input) => {
    expect(isAsked({ matcher }, name, input)).toBe(true);
  });

  test.each(['^execute_', 'run_.*'])(
    'the pattern %s is tried on Claude’s names only',
    (matcher) => {
      expect(isAsked({ matcher }, 'Bash', { command: 'ls' })).toBe(false);
      expect(isAsked({ matcher }, 'execute_command', { command: 'ls' })).toBe(false);
      const [why] = whyNot(compileEntryMatcher(entryOf({ matcher }, true)), 'Bash', {
        command: 'ls',
      });
      expect(why).toBeNull();
    },
  );

  test('a pattern sees the name of a tool that has only one', () => {
    expect(isAsked({ matcher: '^plugin_' }, 'plugin_tool')).toBe(true);
  });

  test('each part of a plural call is matched by itself', () => {
    const fit = compileEntryMatcher(entryOf({ condition: 'Bash(git *)' }));
    expect(whyNot(fit, 'run_commands', { commands: ['git status', 'ls'] })).toEqual([
      null,
      'if "Bash(git *)" is not met',
    ]);
  });

  test('the engine passes each part', async () => {
    const records: unknown[] = [];
    const { fits } = compileEntryMatcher(entryOf({ matcher: 'Bash', condition: 'Bash(git *)' }));
    const hook = handler('h', ({ tool }) => void records.push(tool?.input), { fits });
    const { tool } = callEvent('run_commands', { commands: ['git status', 'ls'] });
    await engineOf([hook]).dispatch({ name: 'PreToolUse', tool });
    expect(records).toEqual([{ command: 'git status' }]);
  });

  test('without the part every part counts', () => {
    const { fits } = compileEntryMatcher(entryOf({ condition: 'Bash(git *)' }));
    const event = callEvent('run_commands', { commands: ['ls', 'git status'] });
    expect(fits(event, ['Bash', 'run_commands'])).toBeNull();
  });
});

describe('why an entry does not fit', () => {
  test.each([
    [{ matcher: 'Edit|Write' }, 'matcher "Edit|Write" does not match Bash'],
    [{ matcher: '^E' }, 'matcher "^E" does not match Bash'],
    [{ condition: 'Bash(git *)' }, 'if "Bash(git *)" is not met'],
    [{ agentType: 'reviewer' }, 'only for agents of type reviewer'],
  ] satisfies [Partial<CommandEntry>, string][])('%j', (wanted, why) => {
    expect(whyNot(compileEntryMatcher(entryOf(wanted)), 'Bash', { command: 'ls' })).toEqual([why]);
  });

  test('an agent’s own hooks fit for its type', () => {
    const { fits } = compileEntryMatcher(entryOf({ agentType: 'reviewer' }));
    const agent = { id: 'b', parentId: 'a', type: 'reviewer' };
    expect(fits({ ...callEvent('Bash'), agent }, ['Bash'])).toBeNull();
  });
});

function fitsEvent(wanted: Partial<CommandEntry>, event: HookEvent, names: string[]): boolean {
  return compileEntryMatcher(entryOf(wanted)).fits(event, names) === null;
}

describe('subjects of other events', () => {
  const runEnd = { ...MOMENT, name: 'RunEnd', status: 'failed' } as const;

  test('StopFailure is a run that an error of the service ended', () => {
    const limited = { ...runEnd, errorClass: 'rate_limit' };
    const matches = (matcher: string | undefined, event: HookEvent, subject: string): boolean =>
      fitsEvent({ event: 'StopFailure', matcher }, event, [subject]);
    expect(matches(undefined, runEnd, 'failed')).toBe(false);
    expect(matches('failed', runEnd, 'failed')).toBe(false);
    expect(matches(undefined, limited, 'rate_limit')).toBe(true);
    expect(matches('overloaded|rate_limit', limited, 'rate_limit')).toBe(true);
    expect(matches('overloaded,rate_limit', limited, 'rate_limit')).toBe(false);
    expect(matches('overloaded', limited, 'rate_limit')).toBe(false);
  });

  test('FileChanged matches the name of the file; a comma belongs to it', () => {
    const event = { ...MOMENT, name: 'FileChanged', file: '/ws/a', change: 'change' } as const;
    const matches = (matcher: string, name: string): boolean =>
      fitsEvent({ event: 'FileChanged', matcher }, event, [name]);
    expect(matches('Makefile|Dockerfile', 'Dockerfile')).toBe(true);
    expect(matches('Makefile,Dockerfile', 'Dockerfile')).toBe(false);
    expect(matches('.env|.envrc', '.envrc')).toBe(true);
  });

  test('a matcher is ignored where there is nothing to match', () => {
    const event = { ...MOMENT, name: 'Stop', lastText: '', again: false } as const;
    const fit = compileEntryMatcher(entryOf({ event: 'Stop', matcher: 'Bash' }));
    expect([fit.fits(event, []), fit.problem, fit.notes]).toEqual([
      null,
      null,
      ['the matcher is ignored: Stop has nothing to match'],
    ]);
    expect(fitsEvent({ event: 'Stop', matcher: '[' }, event, [])).toBe(true);
  });

  test('a pattern is tried on a subject that happens to be a tool’s name', () => {
    const event = { ...MOMENT, name: 'SubagentStart', agentType: 'editor' } as const;
    expect(fitsEvent({ event: 'SubagentStart', matcher: '^edit' }, event, ['editor'])).toBe(true);
  });
});

describe('entries that can never run', () => {
  test.each<[Partial<CommandEntry>, string]>([
    [{ matcher: '[' }, 'the matcher "[" is not a regular expression'],
    [{ matcher: '(?i)bash' }, 'the matcher "(?i)bash" is not a regular expression'],
    [{ matcher: '**' }, 'the matcher "**" is not a regular expression'],
    [{ condition: 'Nope(' }, 'if "Nope(" can never be met'],
    [{ condition: '*' }, 'if "*" can never be met'],
    [
      { event: 'Stop', condition: 'Bash' },
      'if "Bash" can never be met: Stop is not about a tool call',
    ],
  ])('%j', (wanted, problem) => {
    const fit = compileEntryMatcher(entryOf(wanted));
    expect(fit.problem).toContain(problem);
    expect(fit.fits(callEvent('Bash'), ['Bash'])).toBe(fit.problem);
  });
});

describe('patterns that need a backtracking engine', () => {
  test('run when they are harmless', () => {
    const fit = compileEntryMatcher(entryOf({ matcher: '^(?!Write).*$' }));
    expect(fit.notes).toEqual([
      'matcher "^(?!Write).*$" runs on the backtracking engine, screened',
    ]);
    expect(whyNot(fit, 'Bash')).toEqual([null]);
  });

  const evil = '(?=(a+)+$)b';

  test.each(['PreToolUse', 'PermissionRequest'] as const)(
    '%s counts one that could hang as matching',
    (event) => {
      const fit = compileEntryMatcher(entryOf({ event, matcher: evil }));
      expect(fit.fits(callEvent('Bash'), ['Bash'])).toBeNull();
      expect(fit.notes).toEqual([expect.stringContaining('counts as matching everything')]);
    },
  );

  test('elsewhere one that could hang never matches', () => {
    const fit = compileEntryMatcher(entryOf({ event: 'PostToolUse', matcher: evil }));
    expect(fit.fits(callEvent('Bash'), ['Bash'])).toContain('does not match Bash');
    expect(fit.notes).toEqual([expect.stringContaining('counts as matching nothing')]);
  });

  test('a guard is asked about a name that is too long for one', () => {
    const { fits } = compileEntryMatcher(entryOf({ matcher: '^(?!Write)B$' }));
    expect(fits(callEvent('Bash'), ['x'.repeat(1001)])).toBeNull();
    expect(fits(callEvent('Bash'), ['x'.repeat(1000)])).not.toBeNull();
  });

  test('escapes that the linear engine reads otherwise mean what JavaScript says', () => {
    expect(isAsked({ matcher: '\\ABash\\z' }, 'Bash')).toBe(false);
    expect(isAsked({ matcher: '\\Bash' }, 'Bash')).toBe(true);
  });
});

describe('notes', () => {
  const notesOf = (wanted: Partial<CommandEntry>): readonly string[] =>
    compileEntryMatcher(entryOf(wanted)).notes;

  const FORMER = 'MultiEdit is a tool of older versions; no tool has this name now: write Edit';

  test.each<[Partial<CommandEntry>, readonly string[]]>([
    [{ matcher: 'Bash|Write|my_tool|BashOutput|execute_command|mcp__a__b|Task' }, []],
    [{}, []],
    [
      { matcher: 'bash' },
      ['"bash" matches nothing: names of tools are case-sensitive; did you mean "Bash"?'],
    ],
    [
      { matcher: 'Edit|Writte' },
      ['"Writte" matches nothing: no tool of this name is known; did you mean "Write"?'],
    ],
    [
      { matcher: 'mcp__srv' },
      [
        '"mcp__srv" matches nothing: it names no tool; write "mcp__srv__.*" for every tool of the server',
      ],
    ],
    [
      { matcher: 'Bash(echo *)' },
      ['"Bash(echo *)" can never match: it is a permission rule, which belongs in "if"'],
    ],
    [
      { event: 'Setup', matcher: 'Init|maintenance' },
      ['"Init" matches nothing: Setup has init, maintenance'],
    ],
    [{ event: 'SessionStart', matcher: 'startup|resume' }, []],
    [
      { condition: 'bash(git *)' },
      ['in "if", "bash" matches nothing: names of tools are case-sensitive; did you mean "Bash"?'],
    ],
    [{ event: 'SubagentStop', matcher: 'anything' }, []],
    [{ matcher: 'MultiEdit' }, [FORMER]],
    [{ matcher: 'Write|MultiEdit' }, [FORMER]],
    [{ matcher: 'Edit|MultiEdit|Write' }, []],
    [{ condition: 'MultiEdit(*.ts)' }, [`in "if", ${FORMER}`]],
  ])('%j', (wanted, notes) => {
    expect(notesOf(wanted)).toEqual(notes);
  });
});

test('no matcher and no condition makes matching throw', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (matcher, condition, command) => {
      const fit = compileEntryMatcher(entryOf({ matcher, condition }));
      const why = fit.fits(callEvent('Bash', { command }), ['Bash']);
      expect(why === null || typeof why === 'string').toBe(true);
      expect(Array.isArray(fit.notes)).toBe(true);
    }),
  );
});
