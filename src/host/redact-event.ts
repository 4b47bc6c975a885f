import { isRecord } from '../base/json.ts';
import type { HooklineEvent } from '../store/cloud-event.ts';
import { redactEntry } from '../trace/entry.ts';
import { redactObject, redactText } from './redact-object.ts';

/** Redacts the secrets of an event, unless `raw` is set. Its ids and hash are left: they look like secrets. */
export async function redactEvent(
  event: HooklineEvent,
  flags: { readonly raw?: boolean | undefined },
): Promise<HooklineEvent> {
  if (flags.raw === true) return event;
  const { data, paths, workspace, foreignevent, tool, hooks } = event;
  const redacted = await redactObject({ paths, workspace, foreignevent, tool, hooks }, flags);
  return { ...event, ...redacted, data: await redactData(event, data) };
}

async function redactData({ origin }: HooklineEvent, data: unknown): Promise<unknown> {
  // Our own entries are stored a little longer than they are shown, so that no half of a secret is.
  if (origin === 'dispatch' && isRecord(data)) return redactEntry(data, redactText);
  const { value } = await redactObject({ value: data }, {});
  return value;
}
