import { z } from 'zod';
import { text } from './fields.ts';

/** What `hookline lock` writes. */
export const LOCK = z.strictObject({
  version: z.literal(1).describe('Version of this format.'),
  hooks: z
    .array(
      z.strictObject({
        id: text('Id of the hook.'),
        entry: text('Where the hook lies, relative to the workspace root, with forward slashes.'),
        digest: z
          .string()
          .regex(/^[0-9a-f]{64}$/)
          .describe('SHA-256 over `files`.'),
        files: z
          .record(z.string(), z.string().regex(/^([0-9a-f]{64}|link:.*|absent|directory)$/s))
          .describe(
            'What each path held: the SHA-256 of its bytes, or "link:" and its target, "absent", "directory".',
          ),
      }),
    )
    .describe('The locked hooks, sorted by id and place.'),
});
