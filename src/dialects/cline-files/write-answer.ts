import type { Verdict } from '../../hooks/decision.ts';
import type { HookEvent } from '../../hooks/facts.ts';
import type { WrittenAnswer } from '../dialect.ts';

export function writeAnswer(_event: HookEvent, _verdict: Verdict): WrittenAnswer {
  return { stdout: '', stderr: '', exitCode: 0, losses: [] };
}
