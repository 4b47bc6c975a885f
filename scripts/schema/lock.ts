import { z } from 'zod';
import { text } from './fields.ts';

/** What `hookline lock` writes. */
export const LOCK = z.strictObject({
  version: z
    .union([z.literal(1), z.literal(2)])
    .describe('Version of this format; modes and what scripts load are in it from version 2 on.'),
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
          .record(
            z.string(),
            z.string().regex(/^([0-9a-f]{64}(\+x)?|link:.*|path:.*|absent|directory)$/s),
          )
          .describe(
            'What each path held: the SHA-256 of its bytes, with "+x" when it can be executed, or "link:" and its target, "path:" and the program that a name led to, "absent", "directory".',
          ),
      }),
    )
    .describe('The locked hooks, sorted by id and place.'),
});
