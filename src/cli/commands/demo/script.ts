import type { Model, ModelRequest } from '../../../agent/models/model.ts';
import { scripted, type ScriptTurn } from '../../../agent/models/scripted.ts';

export const PROMPT = 'Write the answer for ACME-4711, and push it';
/** What the plugin keeps from the model. */
export const CUSTOMER = 'ACME-4711';

const TURNS: readonly ScriptTurn[] = [
  {
    text: 'I write the answer.',
    tools: [{ name: 'Write', input: { file_path: 'app.js', content: 'module.exports = 42;\n' } }],
  },
  {
    text: 'TypeScript, then.',
    tools: [{ name: 'Write', input: { file_path: 'app.ts', content: '  export default 42' } }],
  },
  { tools: [{ name: 'Bash', input: { command: 'git push --force' } }] },
  { tools: [{ name: 'count_words', input: { text: 'app.ts holds the answer' } }] },
  { text: 'app.ts holds the answer. Pushing is left to you.' },
  { text: 'I check it.', tools: [{ name: 'Bash', input: { command: 'node check.js' } }] },
  { text: 'app.ts holds the answer, and the check passes. Pushing is left to you.' },
];

/** The scripted model, and all that it was asked. */
export interface WatchedModel {
  readonly model: Model;
  readonly requests: readonly ModelRequest[];
}

export function watchedModel(): WatchedModel {
  const requests: ModelRequest[] = [];
  const script = scripted(TURNS);
  return {
    requests,
    model: {
      ...script,
      stream(request, signal) {
        requests.push(request);
        return script.stream(request, signal);
      },
    },
  };
}
