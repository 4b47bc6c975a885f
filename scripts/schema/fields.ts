import { z } from 'zod';

export function text(about: string): z.ZodString {
  return z.string().describe(about);
}

export function flag(about: string): z.ZodBoolean {
  return z.boolean().describe(about);
}

/** A whole number from 0. */
export function count(about: string): z.ZodInt {
  return z.int().nonnegative().describe(about);
}

/** Any JSON value. */
export function anything(about: string): z.ZodUnknown {
  return z.unknown().describe(about);
}

export function texts(about: string): z.ZodArray<z.ZodString> {
  return z.array(z.string()).describe(about);
}

export function textMap(about: string): z.ZodRecord<z.ZodString, z.ZodString> {
  return z.record(z.string(), z.string()).describe(about);
}
