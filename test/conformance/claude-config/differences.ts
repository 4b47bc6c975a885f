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
    claude:
      'Contexts of several hooks come in the order in which the hooks finished, with a line break between them.',
    here: 'They come in declared order, with a blank line between them.',
    why: 'The model reads the same text every time, and sees where one ends; Cline documents the blank line.',
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
    claude: 'A matcher or `if` that cannot be read never matches, without a message.',
    here: 'It never matches either, but `hooks list` reports it, and on PreToolUse and PermissionRequest every dispatch has a failed outcome.',
    why: 'A guard that cannot work must not look as if it had agreed.',
  },
  {
    cases: {
      '12-if': ['Bash(echo hi) -> «echo hi» «echo $(rm -rf /nonexistent/x)» «echo $(date)»'],
    },
    claude: 'A variable in double quotes is taken for its own text by `if`.',
    here: 'It may be any word: `rm "$F" x` meets `Bash(rm -rf *)`.',
    why: 'With `F=-rf` the guard would not be asked.',
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
    cases: { '35-modelswitch': ['claude-opus-4-1'] },
    claude: 'The name of a retired model is taken for a newer one.',
    here: 'A name is taken as it is; only `opus`, `sonnet`, `haiku` and `fable` mean the newest of their kind.',
    why: 'Which models a service still has is for the service to say.',
  },
  {
    cases: { '18b-invalid-each': ['pre_big'] },
    claude: 'A time-out is always in seconds: 600000 means almost seven days.',
    here: 'A value from 1000 on that is a multiple of 500 is read as milliseconds, and `hooks list` reports it.',
    why: 'Many published hooks give milliseconds, and none means days.',
  },
  {
    cases: { '19-invalid-json': ['settings.json', 'settings.local.json'] },
    claude: 'Comments and trailing commas make a settings file invalid, so none of its hooks run.',
    here: 'Both are accepted. Text that is still not JSON is reported with file and line.',
    why: 'What the author meant is clear, and a guard that is skipped protects nothing.',
  },
  {
    cases: { '37-disable-managed': ['disable_proj', 'disable_local'] },
    claude:
      '`disableAllHooks` in a project switches off the user’s hooks and those of plugins, too.',
    here: 'It switches off the hooks of that workspace only.',
    why: 'A repository must not be able to remove the user’s own guards.',
  },
  {
    cases: { '37-disable-managed': ['user_true_proj_false'] },
    claude: '`disableAllHooks: false` in a project overrides `true` in the user’s settings.',
    here: 'What the user switched off stays off.',
    why: 'A repository must not be able to start hooks against the user’s decision.',
  },
  {
    cases: { '37-disable-managed': ['sources_user', 'sources_none'] },
    claude: '`--setting-sources` chooses which settings files are read.',
    here: 'There is no such option: hooks are disabled by id, or all of them with `--no-hooks`.',
    why: 'Trust decides which hooks of a workspace run.',
  },
  {
    cases: { '49-misc2': ['settings_env', 'http_allow'] },
    claude:
      '`env`, `allowedHttpHookUrls` and `httpHookAllowedEnvVars` count in every settings file.',
    here: 'They count in the user’s, the caller’s and managed settings; `env` for hooks, commands and MCP servers, not for Hookline itself. A workspace’s `env` reaches only that workspace’s hooks and is trusted together with them; its lists take away from its own hooks and never add.',
    why: 'A repository must not change the environment of other hooks, where they may send data, or switch them off.',
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
    cases: { '38-caps': ['systemMessage', 'additionalContext', 'tool output'] },
    claude: 'Text that is too long is kept beside the transcript in `~/.claude`.',
    here: 'It is kept in Hookline’s own directory; the preview has the same form.',
    why: 'State of one program does not belong into the directory of another.',
  },
  {
    cases: { '08-sessionstart': ['sys'] },
    claude: 'Without a terminal, `systemMessage` of a SessionStart hook is not shown.',
    here: 'It is among the messages of the verdict, as for every event.',
    why: 'A message to the user should reach the user.',
  },
  {
    cases: {
      '21-http': ['badschema'],
      '25-onfailure': ['badschema', 'missingexec'],
      '26-plugin': ['nonplug', 'user_config unset', 'user_config in shell form'],
    },
    claude:
      'Errors about a hook’s output, program or placeholders have Claude Code’s wording.',
    here: 'They have our wording: what was expected, what was found, and what to do. The parts that models read are the same.',
    why: 'Wording changes from version to version, and hooks do not depend on it.',
  },
  {
    cases: { '46-denyfmt': ['Write'] },
    claude:
      'The error of a denied Write call is the bare reason, whichever way the hook denied it.',
    here: 'The bare reason for a JSON answer; the hook’s command precedes what it wrote to stderr, as for all other tools.',
    why: 'The model can tell the words of a program from a considered reason.',
  },
  {
    cases: {
      '03-pre-cases': ['exit2_json_allow', 'json_deny', 'json_allow_ctx', 'ctx_only'],
      '06-post': ['ctx', 'block_ctx'],
      '07-ups': ['stdout', 'ctx', 'ctx_title', 'arr'],
      '08-sessionstart': ['stdout', 'ctx'],
      '09-stop': ['ctx'],
      '38-caps': ['additionalContext'],
      '39-misc-out': ['failure context', 'batchctx'],
      '51-contfalse': ['upe_stdout'],
    },
    claude: 'The context that a hook adds does not name the hook.',
    here: 'Its last line does: `(from <id>)`.',
    why: 'Whoever reads a conversation must see who put something into it.',
  },
  {
    cases: {
      '06-post': ['exit2', 'block', 'block_noreason', 'block_ctx'],
      '38-caps': ['block reason'],
      '39-misc-out': ['failure exit2', 'failure block'],
      '40-precompact': ['json block'],
    },
    claude: 'An objection after a call, or to a compaction, names the hook by its command.',
    here: 'It names the hook by its id.',
    why: '`hooks list`, `hooks disable` and the trace call it so.',
  },
  {
    cases: { '09-stop': ['exit2', 'block', 'block_noreason'] },
    claude:
      'The model reads twice why a Stop hook keeps it from ending; ended by the cap, the run has no result.',
    here: 'The model reads it once, and the result is the last answer.',
    why: 'The same words twice say no more, and the answer is what was asked for.',
  },
  {
    cases: {
      '04-pre-stop': ['cont_false', 'cont_false_allow'],
      '06-post': ['cont'],
      '07-ups': ['exit2', 'block', 'block_sup', 'block_noreason', 'cont'],
      '22-prompt': ['no'],
      '28-permreq': ['denyint'],
      '39-misc-out': ['batch stop'],
      '51-contfalse': ['pre_cont', 'pre_cont_allow', 'pre_cont_exit2', 'upe_block'],
    },
    claude:
      'A run that hooks refused or ended exits with 0, and what they said to a prompt is its result.',
    here: 'It exits with 1; its `ending` is `refused` or `stopped_by_hook`, and what they said is its `reason`.',
    why: 'A script must be able to tell it from a run that was done.',
  },
  {
    cases: {
      '03-pre-cases': ['upd_invalid'],
      '28-permreq': ['none', 'exit2', 'exit1', 'legacy', 'pdec'],
      '29-permrules': ['nohook', 'allow_denyrule', 'allow_askrule', 'upd_into_denied'],
      '46-denyfmt': ['Edit'],
    },
    claude:
      'A refusal by a tool, by a rule, or because no user can be asked has Claude Code’s wording.',
    here: 'It has our wording, with the rule and its file, or that no user can be asked.',
    why: 'The model and the user should learn what to change.',
  },
  {
    cases: { '28-permreq': ['allowupd'], '29-permrules': ['upd_into_denied', 'upd_nodec'] },
    claude: 'Only rules look at an input that a hook rewrote.',
    here: 'So do all hooks that have not seen it, after a rewrite by PermissionRequest also those of PreToolUse. Only their refusals count.',
    why: 'No rewrite may slip past a guard.',
  },
  {
    cases: { '28-permreq': ['none'] },
    claude: 'For a command that changes files, all of its directory and all edits are suggested.',
    here: 'The rule is suggested that lets this command pass.',
    why: 'A suggestion should not allow more than what is asked about.',
  },
  {
    cases: { '27-frontmatter': ['skillhook'] },
    claude: 'Hooks that a skill brought do not look at what sub-agents do.',
    here: 'They do.',
    why: 'Work that is handed on must not slip past a guard.',
  },
  {
    cases: {
      '30-modes': ['m-auto SessionStart', 'm-auto PreToolUse', 'm-manual PreToolUse'],
    },
    claude: '`--permission-mode` also takes `auto`, where a classifier decides, and `manual`.',
    here: 'It does not; `manual` in a settings file means `default`.',
    why: 'There is no classifier, and one name is enough.',
  },
  {
    cases: {
      '03-pre-cases': [
        'legacy_deny',
        'no_event',
        'bad_json',
        'text_then_json',
        'json_then_text',
        'array_json',
      ],
      '25-onfailure': ['badjson'],
    },
    claude:
      'An answer with text around it, in an array, cut off or under a wrong name is plain text or an error, and the call goes on.',
    here: 'On PreToolUse and PermissionRequest it is a failed outcome that allows nothing, and a denial when one reading of it refuses.',
    why: 'A guard that refused and was misread must not look as if it had agreed.',
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
