import { createEventTable } from '../event-table.ts';

/**
 * The hooks of an opencode plugin, and the events of its bus with `event:` before their names, that mean one
 * of ours.
 */
export const OPENCODE_EVENTS = createEventTable({
  'tool.execute.before': 'PreToolUse',
  'tool.execute.after': 'PostToolUse',
  'chat.message': 'UserPromptSubmit',
  'permission.ask': 'PermissionRequest',
  'experimental.session.compacting': 'PreCompact',
  'event:session.created': 'SessionStart',
  'event:session.idle': 'Stop',
  'event:session.compacted': 'PostCompact',
  'event:session.error': { event: 'RunEnd', facts: { status: 'failed' } },
  'event:session.deleted': 'SessionEnd',
  'event:permission.asked': 'Notification',
  'event:permission.updated': 'Notification',
});
