import { renderHeader } from '../../templates.ts';
import { type ClaudeExample, AS_IT_IS, createWatchExample } from './example.ts';
import { SESSION_EXAMPLES } from './session-events.ts';
import { TOOL_EXAMPLES } from './tool-events.ts';

/** Examples for events about files, settings and directories. */
const PLACE_EXAMPLES = {
  ConfigChange: createWatchExample({
    runs: 'when a settings file changed during the session',
    reads: [['source', 'such as user_settings or project_settings; also file_path']],
    field: 'source',
    answers: [['exit code 2', 'the change is not applied']],
  }),
  InstructionsLoaded: createWatchExample({
    runs: 'when a file of instructions was loaded',
    reads: [['file_path', 'which; also memory_type and load_reason']],
    field: 'file_path',
  }),
  WorktreeCreate: {
    runs: 'when a worktree is needed, and makes it',
    does: 'adds a git worktree below .claude/worktrees',
    reads: [['name', 'what it should be called']],
    answers: [
      ['plain text on stdout', 'its last line is the path of the new worktree'],
      ['another exit code than 0', 'there is no worktree; what is on stderr says why'],
    ],
    trial: { ...AS_IT_IS, look: 'git worktree list' },
    action: { kind: 'own' },
  },
  WorktreeRemove: createWatchExample({
    runs: 'when a worktree is removed',
    reads: [['worktree_path', 'which']],
    field: 'worktree_path',
  }),
  CwdChanged: createWatchExample({
    runs: 'when the current directory changed',
    reads: [['new_cwd', 'where it is now; also old_cwd']],
    field: 'new_cwd',
  }),
  FileChanged: createWatchExample({
    runs: 'when a file changed on disk that its matcher names',
    reads: [['file_path', 'which; also event: change, add or unlink']],
    field: 'file_path',
    matcher: 'package.json',
    facts: { file: '/example/package.json' },
  }),
  DirectoryAdded: createWatchExample({
    runs: 'when a directory was added to the workspace',
    reads: [['directory', 'which; also source']],
    field: 'directory',
  }),
} as const satisfies Record<string, ClaudeExample>;

const EXAMPLES = { ...TOOL_EXAMPLES, ...SESSION_EXAMPLES, ...PLACE_EXAMPLES };

export type ClaudeExampleEvent = keyof typeof EXAMPLES;

/** An example for every event of Claude's format. */
export const CLAUDE_EXAMPLES: Readonly<Record<ClaudeExampleEvent, ClaudeExample>> = EXAMPLES;

const WORDS = {
  gets: [
    'It gets one JSON object on stdin. With every event come session_id,',
    'transcript_path, cwd and hook_event_name; with this one also:',
  ],
  answers: 'It answers with its exit code, or with one JSON object on stdout:',
  end: [],
};

/** Renders the head comment of an example in Claude's format. */
export function renderClaudeHeader(event: ClaudeExampleEvent, mark: '#' | '//'): string {
  return renderHeader({ event, example: CLAUDE_EXAMPLES[event], words: WORDS }, mark);
}
