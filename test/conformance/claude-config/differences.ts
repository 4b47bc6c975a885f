/** Where hooks in Claude's format deliberately do something else here than in Claude Code. */
export interface Difference {
  /** The groups and cases of the recording that show it; each has a test of what happens here. */
  readonly cases: Readonly<Record<string, readonly string[]>>;
  readonly claude: string;
  readonly here: string;
  readonly why: string;
}

export const DIFFERENCES: readonly Difference[] = [
  {
    cases: { '05-multi': ['deny_allow', 'two_deny', 'ask_allow', 'two_exit2'] },
    claude: 'Of several hooks that decide, the reason of the one that finished last is kept.',
    here: 'All reasons are kept, each with its hook, in declared order.',
    why: 'Which hook is the slowest says nothing about whose reason matters.',
  },
  {
    cases: { '05-multi': ['upd_slow_first'], '42-extra': ['twoout'] },
    claude: 'Of several rewrites of a tool’s input or output, the one that finished last counts.',
    here: 'The last one in declared order counts, and the other hooks look at the new input again.',
    why: 'A race must not decide what runs, and no rewrite may slip past a guard.',
  },
  {
    cases: { '05-multi': ['two_ctx'] },
    claude: 'Contexts of several hooks come in the order in which the hooks finished.',
    here: 'They come in declared order.',
    why: 'The model reads the same text every time.',
  },
  {
    cases: { '49-misc2': ['pr_allow_deny'] },
    claude:
      'The first PermissionRequest hook that answers decides: a fast allow beats a later deny.',
    here: 'The strictest answer decides.',
    why: 'A guard must not lose because it is slower.',
  },
  {
    cases: {
      '11-matchers': ['"[" -> -', '"(Bash" -> -', '"Bash(*)" -> -', '"**" -> -', '"(?i)bash" -> -'],
      '12-if': ['mcp__srv__* -> -', '* -> -', 'Nope( -> -'],
    },
    claude: 'A matcher or `if` that cannot be read never matches, and nobody is told.',
    here: 'It never matches either, but `hooks list` reports it, and on PreToolUse and PermissionRequest every dispatch has a failed outcome.',
    why: 'A guard that cannot work must not look as if it had agreed.',
  },
  {
    cases: {
      '18b-invalid-each': ['pre_badtype', 'pre_event_obj'],
      '26-plugin': ['plug4', 'plug5'],
    },
    claude:
      'A broken PreToolUse or PermissionRequest entry switches its whole settings file or plugin off.',
    here: 'Its neighbours still run. The broken entry is a failed outcome on every dispatch of its event, and allow rules of its file do not apply.',
    why: 'One mistake must not take all other guards down, and must not be silent.',
  },
  {
    cases: { '18b-invalid-each': ['pre_big'] },
    claude: 'A time-out is always in seconds: 600000 means almost seven days.',
    here: 'A value from 1000 on that is a multiple of 500 is read as milliseconds, and `hooks list` says so.',
    why: 'Many published hooks give milliseconds, and nobody means days.',
  },
  {
    cases: { '19-invalid-json': ['settings.json', 'settings.local.json'] },
    claude: 'Comments and trailing commas make a settings file invalid, so none of its hooks run.',
    here: 'Both are accepted. What is no JSON all the same is reported with file and line.',
    why: 'What the author meant is clear, and a guard that is skipped protects nothing.',
  },
  {
    cases: { '37-disable-managed': ['disable_proj', 'disable_local'] },
    claude:
      '`disableAllHooks` in a project switches off the hooks of the person and of plugins, too.',
    here: 'It switches off the hooks of that workspace only.',
    why: 'A repository must not be able to remove the person’s own guards.',
  },
  {
    cases: { '37-disable-managed': ['user_true_proj_false'] },
    claude: '`disableAllHooks: false` in a project beats `true` in the person’s settings.',
    here: 'What the person switched off stays off.',
    why: 'A repository must not be able to start hooks against the person’s word.',
  },
  {
    cases: { '37-disable-managed': ['sources_user', 'sources_none'] },
    claude: '`--setting-sources` chooses which settings files are read.',
    here: 'There is no such option: hooks are switched off by id, or all of them with `--no-hooks`.',
    why: 'Trust decides which hooks of a workspace run.',
  },
  {
    cases: { '49-misc2': ['settings_env', 'http_allow'] },
    claude:
      '`env`, `allowedHttpHookUrls` and `httpHookAllowedEnvVars` count in every settings file.',
    here: 'They count in the person’s, the caller’s and managed settings. A workspace’s `env` reaches only that workspace’s hooks and is trusted together with them; its lists are reported and not used.',
    why: 'A repository must not change the environment of other hooks, or where they may send data.',
  },
  {
    cases: { '17-envfile': ['ss1', 'ss2', 'ss3', 'cwd', 'seen'] },
    claude:
      'CLAUDE_ENV_FILE lies in `~/.claude/session-env`; `MY_VAR=x` in it is a shell variable only.',
    here: 'It lies in `~/.hookline/session-env`, its path is also in the payload, and files are read with `set -a`, so that `MY_VAR=x` reaches programs, too.',
    why: 'State of one program does not belong into the directory of another; published hooks rely on the short form.',
  },
  {
    cases: { '20-subdir': ['subproj'] },
    claude: 'Transcripts lie in `~/.claude/projects`.',
    here: 'They lie in Hookline’s own directory, in the same format and under the same kind of name.',
    why: 'State of one program does not belong into the directory of another.',
  },
  {
    cases: { '38-caps': ['systemMessage', 'additionalContext'] },
    claude: 'Text that is too long is kept beside the transcript in `~/.claude`.',
    here: 'It is kept in Hookline’s own directory; the preview has the same form.',
    why: 'State of one program does not belong into the directory of another.',
  },
  {
    cases: { '08-sessionstart': ['sys'] },
    claude: 'Without a terminal, `systemMessage` of a SessionStart hook is not shown.',
    here: 'It is among the messages of the verdict, as for every event.',
    why: 'A message to the person should reach the person.',
  },
  {
    cases: {
      '21-http': ['badschema'],
      '25-onfailure': ['badschema', 'missingexec'],
      '26-plugin': ['nonplug', 'user_config unset', 'user_config in shell form'],
    },
    claude:
      'Errors about a hook’s output, program or placeholders are told in Claude Code’s words.',
    here: 'They are told in our words: what was expected, what was found, and what to do. The parts that models read are the same.',
    why: 'Wording changes from version to version, and hooks do not depend on it.',
  },
  {
    cases: { '46-denyfmt': ['Write'] },
    claude:
      'The error of a denied Write call is the bare reason, whichever way the hook denied it.',
    here: 'The bare reason for a JSON answer; the hook’s command stands before what it wrote to stderr, as for all other tools.',
    why: 'The model can tell the words of a program from a considered reason.',
  },
];

/** The differences as a table in Markdown. */
export function differencesTable(): string {
  const rows = DIFFERENCES.map(({ claude, here, why }) =>
    [claude, here, why].map((text) => text.replaceAll('|', String.raw`\|`)).join(' | '),
  );
  return [
    '| Claude Code | here | why |',
    '|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
    '',
  ].join('\n');
}
