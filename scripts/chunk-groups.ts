/**
 * Which files of src share a part of the program. Finding and reading a part costs half a
 * millisecond, so what a command needs lies together, and what it does not need lies apart.
 *
 * A path that ends in a slash is a folder; `*` stands for one name, also in the name of its group, so
 * that each dialect has a part of its own. The longest path that fits a file decides. A file that none
 * fits goes wherever the bundler puts it.
 */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  // What `hooks list` needs.
  looking: [
    'src/base/',
    'src/dialects/',
    'src/host/',
    'src/process/',
    'src/trust/',
    'src/mcp/server-config.ts',
    'src/hooks/decision.ts',
    'src/permissions/permissions.ts',
    'src/tool-vocabularies/vocabulary.ts',
    'src/cli/context.ts',
    'src/cli/output/hook-progress.ts',
    'src/cli/commands/hooks-list.ts',
    'src/cli/output/describe-hooks.ts',
    'src/host/plugins/plugin-options.ts',
    'src/host/sandbox/places.ts',
    'src/callback/callback-address.ts',
    'src/dialects/claude/sources/user-servers.ts',
    // Finds the texts for an agent that lead out of the workspace.
    'src/agent/instructions/agents.ts',
    'src/agent/instructions/commands.ts',
    'src/agent/instructions/instructions.ts',
    'src/agent/instructions/skills.ts',
    'src/agent/instructions/source-files.ts',
    'src/agent/instructions/text-exits.ts',
    'src/agent/tools/files/read-path.ts',
    'src/agent/tools/files/text-file.ts',
  ],
  // Needed only where a hook, or a text for an agent, lies on disk.
  found: [
    'src/trust/collect-unit.ts',
    'src/trust/file-map.ts',
    'src/trust/follow-references.ts',
    'src/trust/home-hook-changes.ts',
    'src/trust/reference-words.ts',
    'src/trust/script-references.ts',
    'src/trust/untracked-references.ts',
    'src/process/interpreter.ts',
    'src/dialects/cline-files/tool-mentions.ts',
    'src/agent/instructions/front-matter.ts',
  ],
  // Needed only to run hooks, not to look at them.
  running: [
    'src/hooks/',
    'src/trace/',
    'src/tool-vocabularies/',
    'src/dialects/known-tools.ts',
    'src/dialects/command-handler.ts',
    'src/dialects/find-refusal.ts',
    'src/dialects/missing-program.ts',
    'src/process/env-files.ts',
    'src/process/run.ts',
    'src/process/shell.ts',
    'src/process/spawn.ts',
    'src/process/end-tree.ts',
    'src/process/process-marker.ts',
    'src/process/process-table.ts',
    'src/process/bounded-output.ts',
    'src/host/prune-state.ts',
    'src/host/watch-hook-files.ts',
    'src/trust/lock.ts',
    'src/trust/content-store.ts',
    // Read the commands of hooks, too.
    'src/permissions/rules/shell-commands.ts',
    'src/permissions/rules/shell-words.ts',
    // Finds that there are no plugins.
    'src/host/agent/open-session-plugins.ts',
    'src/host/plugins/check-plugins.ts',
    'src/host/plugins/session-plugins.ts',
    'src/cli/plugins/plugin-hooks.ts',
    'src/cli/plugins/select-plugins.ts',
    'node_modules/ulid/',
  ],
  // Needed only to run hooks of one dialect.
  'running-*': [
    'src/dialects/*/handlers/',
    'src/dialects/*/handlers.ts',
    'src/dialects/*/entry-handlers.ts',
    'src/dialects/*/askings.ts',
    'src/dialects/*/codec.ts',
    'src/dialects/*/input/',
    'src/dialects/*/payload.ts',
    'src/dialects/*/output/',
    'src/dialects/*/output.ts',
  ],
  // Needed only to read payloads of other agents, and to write answers for them.
  'foreign-payloads': [
    'src/dialects/agent-answer.ts',
    'src/dialects/agent-payload.ts',
    'src/dialects/payload-envelope.ts',
    'src/dialects/payload-events.ts',
    'src/dialects/payload-reader.ts',
    'src/tool-vocabularies/agents/',
    'src/dialects/*/read-payload.ts',
    'src/dialects/*/input/read-payload.ts',
    'src/dialects/*/write-answer.ts',
  ],
  // Needed only to switch other agents on and off.
  agents: [
    'src/agents/',
    'src/cli/commands/agents/',
    'src/cli/commands/uninstall.ts',
    'src/dialects/install-settings.ts',
    'src/dialects/*/install.ts',
    'src/dialects/codex/ask-for-hooks.ts',
    'src/dialects/codex/read-toml.ts',
    'src/dialects/opencode/plugin-text.ts',
    'src/process/running-programs.ts',
    'node_modules/smol-toml/',
  ],
  // Needed only to store events, and to read what is stored.
  store: [
    'src/store/',
    'src/cli/with-store.ts',
    'src/cli/event-filter.ts',
    'src/cli/commands/trace.ts',
    'src/cli/output/format-event.ts',
    'src/host/redact-event.ts',
  ],
  // Needed only to create the tables of the store.
  'store-tables': ['src/store/migrations.ts'],
  // Needed only for requests over HTTP.
  http: ['src/base/network-addresses.ts', 'src/base/http-body.ts'],
  // Needed only to write, copy and remove hooks.
  writing: [
    'src/dialects/*/config/edit.ts',
    'src/mcp/edit-servers.ts',
    'src/base/edit-json.ts',
    'src/dialects/*/templates/',
    'src/dialects/*/import-hooks.ts',
    'src/dialects/hooks-file.ts',
    'src/dialects/write-hook-file.ts',
  ],
  // Looks for what is configured in Claude's format.
  claude: [
    'src/dialects/claude/config/parse-events.ts',
    'src/dialects/claude/config/time-limits.ts',
    'src/dialects/claude/sources/',
  ],
  // Needed only where something is configured in the format of a dialect.
  '*-found': [
    'src/dialects/*/binding.ts',
    'src/dialects/*/config/',
    'src/dialects/*/found-hook.ts',
    'src/dialects/*/identity.ts',
    'src/dialects/*/match/',
  ],
  'claude-found': [
    'src/dialects/claude/sources/skills-and-agents.ts',
    'src/mcp/parse-servers.ts',
    'src/base/located-json.ts',
    'node_modules/jsonc-parser/',
  ],
  // Needed only where an MCP server is configured.
  mcp: ['src/mcp/'],
  // Needed only where a plugin lies on disk.
  'plugins-found': [
    'src/plugins/find/',
    'src/plugins/manifest.ts',
    'src/plugins/contract/plugin.ts',
    'src/plugins/contract/runtime-hooks.ts',
    'src/dialects/cline-plugins/binding.ts',
  ],
  // Needed only where a session has plugins.
  plugins: [
    'src/host/plugins/',
    'src/plugins/call-with-timeout.ts',
    'src/plugins/registry.ts',
    'src/plugins/contract/',
    'src/plugins/messages/',
    'src/dialects/cline-plugins/answers.ts',
    'src/dialects/cline-plugins/contexts.ts',
    'src/dialects/cline-plugins/handlers.ts',
    'src/dialects/cline-plugins/mutable-request.ts',
    'src/compat/cline/llms/',
  ],
  // Needed only where an agent runs.
  agent: [
    'src/host/worktrees.ts',
    'src/host/redact-stream.ts',
    'src/plugins/command.ts',
    'src/compat/cline/llms/catalog.ts',
    'src/agent/',
    'src/base/visible-text.ts',
    'src/process/git/',
    'src/process/sandbox/',
    'src/host/sandbox/',
    'src/callback/',
    'src/sessions/',
    'src/permissions/',
    'src/mcp/answer.ts',
    'src/host/agent/',
    'src/host/mcp/',
    'src/host/open-permissions.ts',
    'src/host/git-worktrees.ts',
    'src/host/plugins/contributions/tool-name-conflicts.ts',
    'src/cli/agent-flags.ts',
    'src/cli/commands/run.ts',
    'src/cli/output/run-report.ts',
  ],
  // Of the agent, what is needed only after some calls, with rules, or in a long or resumed session.
  'agent-later': [
    'src/agent/tools/edits/locate-text.ts',
    'src/agent/tools/edits/run-changes.ts',
    'src/agent/tools/files/replace-text.ts',
    'src/agent/session/switch-model.ts',
    'src/agent/models/model-details.ts',
    'src/agent/models/reasoning.ts',
    'src/host/mcp/tool-output.ts',
    'src/mcp/answer.ts',
    'src/permissions/permission-updates.ts',
    'src/permissions/rules/guarded-command.ts',
    'src/permissions/rules/guarded-files.ts',
    'src/sessions/transcript/read-transcript.ts',
    'src/sessions/transcript/stored-line.ts',
  ],
  // Of the agent, what only some runs need.
  'agent-rarely': [
    'src/agent/models/ai-sdk.ts',
    'src/agent/models/sdk-answer.ts',
    'src/agent/models/sdk-prompt.ts',
    'src/agent/models/failures.ts',
    'src/agent/tools/web/',
    'src/agent/tools/files/pdf-text.ts',
    'src/agent/tools/files/notebook.ts',
  ],
  // Rarely needed: most command lines are read without a parser.
  'shell-parser': ['node_modules/unbash/'],
};

// The bundler keeps it beside the package that checks schemas, which it needs while it is loaded.
const UNGROUPED = ['src/host/plugins/contributions/json-schema.ts'];

const PATTERNS = [...Object.entries(GROUPS), [null, UNGROUPED] as const]
  .flatMap(([group, paths]) => paths.map((path) => ({ group, path, pattern: toPattern(path) })))
  .sort((one, other) => other.path.length - one.path.length);

/** Finds the group of a file, by its absolute path on any system; null without one. */
export function findChunkGroup(file: string): string | null {
  const written = file.replaceAll('\\', '/');
  for (const { group, pattern } of PATTERNS) {
    const match = pattern.exec(written);
    if (match !== null) return group?.replace('*', match[1] ?? '') ?? null;
  }
  return null;
}

/** Lists the paths of the groups that fit none of these files, because a file was moved or removed. */
export function listStalePaths(files: readonly string[]): readonly string[] {
  const written = files.map((file) => file.replaceAll('\\', '/'));
  return PATTERNS.filter(({ pattern }) => !written.some((file) => pattern.test(file))).map(
    ({ path }) => path,
  );
}

function toPattern(path: string): RegExp {
  const source = path.replaceAll('.', '\\.').replaceAll('*', '([^/]+)');
  return new RegExp(`(?:^|/)${source}${path.endsWith('/') ? '' : '$'}`);
}
