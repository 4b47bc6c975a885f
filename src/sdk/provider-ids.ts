import { PROVIDERS } from '../agent/models/providers.ts';
import { HooklineError } from '../base/errors.ts';
import { closestName } from '../base/spelling.ts';

/** Cline's ids that have another name here, or none of their own. */
const IDS: Readonly<Record<string, string>> = {
  'openai-native': 'openai',
  openai: 'openai-compatible',
  litellm: 'openai-compatible',
  lmstudio: 'openai-compatible',
  'vercel-ai-gateway': 'openai-compatible',
  deepseek: 'openai-compatible',
  xai: 'openai-compatible',
  together: 'openai-compatible',
  groq: 'openai-compatible',
  cerebras: 'openai-compatible',
  sambanova: 'openai-compatible',
  mistral: 'openai-compatible',
  moonshot: 'openai-compatible',
  qwen: 'openai-compatible',
  fireworks: 'openai-compatible',
  huggingface: 'openai-compatible',
};

/** The provider that one of Cline's ids means here. */
export function resolveProviderId(id: string): string {
  if (id === 'scripted') return id;
  const own = IDS[id];
  if (own !== undefined) return own;
  const found = PROVIDERS.find(({ name, aliases }) => name === id || aliases.includes(id));
  if (found !== undefined) return found.name;
  const known = [...new Set([...PROVIDERS.map(({ name }) => name), ...Object.keys(IDS)])];
  const meant = closestName(id, known);
  const hint = meant === null ? '' : ` "${meant}" is probably meant.`;
  throw new HooklineError('MODEL_UNKNOWN', {
    message: `Hookline knows no provider "${id}".`,
    hint: `Known are ${known.join(', ')}.${hint} Others speak OpenAI's chat completions: use "openai-compatible" with a baseUrl.`,
  });
}
