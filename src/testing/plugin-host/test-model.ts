import type { Model, ModelRequest } from '../../agent/models/model.ts';
import { createScriptedModel, type ScriptTurn } from '../../agent/models/scripted.ts';

/** A model that says what the test wrote down for the run under way, and remembers what it was asked. */
export interface TestModel {
  readonly model: Model;
  /** What it says from now on; what is left of the script before is dropped. */
  play(script: readonly ScriptTurn[]): void;
  /** What it was asked since the script began, oldest first. */
  requests(): readonly ModelRequest[];
}

export function createTestModel(): TestModel {
  let playing = createScriptedModel([]);
  let requests: ModelRequest[] = [];
  return {
    model: {
      ...playing,
      stream(request, signal) {
        requests.push(request);
        return playing.stream(request, signal);
      },
    },
    play(script) {
      playing = createScriptedModel(script);
      requests = [];
    },
    requests: () => [...requests],
  };
}
