import { z } from 'zod';
import { FILE_HOOKS, type FileHookName } from '../../src/dialects/index.ts';
import { PAYLOAD_DATA } from './cline-payload-data.ts';
import { count, text, texts } from './fields.ts';

/** What a Cline hook of this name reads on stdin: what both generations send, in one object. */
export function payloadSchema(name: FileHookName): z.ZodObject {
  return z.strictObject({ ...namingFields(name), ...CLINE_COMMON_FIELDS, ...PAYLOAD_DATA[name] });
}

/** What its payload holds beyond the fields that all have. */
export function getClinePayloadFields(name: FileHookName): z.ZodRawShape {
  return { ...namingFields(name), ...PAYLOAD_DATA[name] };
}

function namingFields(name: FileHookName): z.ZodRawShape {
  const { sdkName } = FILE_HOOKS[name];
  return {
    clineVersion: text('Version of the host that fired the event.'),
    hookName: z
      .enum([name, sdkName])
      .describe(`The event: "${name}" for a classic hook, "${sdkName}" for one of the SDK.`),
    hookNames: z
      .strictObject({
        classic: z.literal(name).describe('What classic hooks call the event.'),
        sdk: z.literal(sdkName).describe('What hooks of the SDK call the event.'),
      })
      .describe('Both names of the event, whichever of them `hookName` holds.'),
  };
}

export const CLINE_COMMON_FIELDS: z.ZodRawShape = {
  timestamp: z
    .string()
    .regex(/^(\d+|\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)$/)
    .describe(
      'When it happened: milliseconds since 1970 in decimal for a classic hook, ISO 8601 in UTC for one of the SDK.',
    ),
  taskId: text('Id of the task.'),
  workspaceRoots: texts(
    'Absolute paths of the workspace roots, the primary one first; may be empty.',
  ),
  workspaceInfo: z
    .strictObject({
      rootPath: text('The primary workspace root, or the current directory when there is none.'),
      hint: text('The last part of that path.'),
    })
    .describe('The primary workspace.'),
  userId: text('Who runs the host.'),
  model: z
    .strictObject({
      provider: text('Who serves the model; "unknown" when the host does not say.'),
      slug: text('Id of the model; "unknown" when the host does not say.'),
    })
    .describe('The model in use.'),
  sessionContext: z
    .strictObject({ rootSessionId: text('Id of the session, the same for all its sub-agents.') })
    .describe('The session.'),
  agent_id: text('Id of the agent.'),
  parent_agent_id: z
    .string()
    .nullable()
    .describe('Id of the agent that started this one; null for the first.'),
  iteration: count('Number of the model request within the run, from 1; 0 before the first.'),
  cwd: text('Absolute path of the current directory of the session.'),
  mode: z.enum(['plan', 'act']).describe('Whether the agent only plans, or acts.'),
};
