import { isRecord } from '../../../base/json.ts';

/**
 * What a hook does to the model's answer in place is told as if it had returned the message: the one
 * that it has is a copy.
 */
export function watchAnswer(
  context: Readonly<Record<string, unknown>>,
): (result: unknown) => unknown {
  const { assistantMessage: message } = context;
  if (message === undefined) return (result) => result;
  const before = JSON.stringify(message);
  return (result) => {
    const returned = isRecord(result) ? result : {};
    const isChanged = JSON.stringify(message) !== before;
    return isChanged && !('message' in returned) ? { ...returned, message } : result;
  };
}
