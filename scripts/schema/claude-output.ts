import { z } from 'zod';
import { anything, flag, text, texts } from './fields.ts';

/** What a Claude hook prints on stdout; fields that are not here are reported, and not read. */
export const CLAUDE_OUTPUT = z.looseObject({
  continue: flag('False ends the turn.').optional(),
  stopReason: text('What the user reads then.').optional(),
  suppressOutput: flag('Accepted, without effect.').optional(),
  systemMessage: text('A message for the user.').optional(),
  terminalSequence: text('A sequence for the terminal.').optional(),
  decision: z
    .enum(['approve', 'block'])
    .describe('`block` refuses what the event is about; `approve` allows a call of PreToolUse.')
    .optional(),
  reason: text('Why.').optional(),
  async: flag('True as the first line: the hook goes on in the background.').optional(),
  asyncTimeout: z.number().describe('For how long, in milliseconds.').optional(),
  hookSpecificOutput: z
    .looseObject({
      hookEventName: text('The event; required.'),
      permissionDecision: z
        .enum(['allow', 'deny', 'ask', 'defer'])
        .describe('Of PreToolUse and PreModelSwitch.')
        .optional(),
      permissionDecisionReason: text('Why.').optional(),
      updatedInput: z
        .record(z.string(), z.unknown())
        .describe('New input of the tool, of PreToolUse.')
        .optional(),
      additionalContext: text('Text for the model.').optional(),
      decision: z
        .looseObject({
          behavior: z.enum(['allow', 'deny']).describe('What the user is taken to answer.'),
          updatedInput: z.record(z.string(), z.unknown()).describe('With `allow`.').optional(),
          updatedPermissions: z.array(z.unknown()).describe('With `allow`.').optional(),
          message: text('With `deny`: why.').optional(),
          interrupt: flag('With `deny`: also ends the turn.').optional(),
        })
        .describe('Of PermissionRequest.')
        .optional(),
      updatedToolOutput: anything('What the model reads of the call, of PostToolUse.').optional(),
      updatedMCPToolOutput: anything('The same for a tool of MCP.').optional(),
      updatedPrompt: text('The prompt instead, of UserPromptSubmit; ours.').optional(),
      suppressOriginalPrompt: flag('Of UserPromptSubmit.').optional(),
      sessionTitle: text('Title of the session.').optional(),
      initialUserMessage: text('A first prompt, of SessionStart.').optional(),
      watchPaths: texts('Files whose change fires FileChanged.').optional(),
      reloadSkills: flag('Of SessionStart.').optional(),
      retry: flag('Of PermissionDenied.').optional(),
      classifierContext: text('Of PostToolUse.').optional(),
      action: z
        .enum(['accept', 'decline', 'cancel'])
        .describe('Of Elicitation and ElicitationResult.')
        .optional(),
      content: z.record(z.string(), z.unknown()).describe('With `accept`.').optional(),
      worktreePath: text('Of WorktreeCreate: where it was made.').optional(),
      displayContent: text('Of MessageDisplay: what the user reads.').optional(),
    })
    .describe('What only this event reads.')
    .optional(),
});
