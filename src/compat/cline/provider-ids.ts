import { PROVIDERS } from '../../agent/models/providers.ts';

/** Cline's ids that have another name here, or none of their own. */
const IDS: Readonly<Record<string, string>> = {
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

/** The provider that one of Cline's ids means here; others stay as they are, since a plugin may bring them. */
export function resolveProviderId(id: string): string {
  if (Object.hasOwn(IDS, id)) return IDS[id] ?? id;
  const own = PROVIDERS.find(({ name, aliases }) => name === id || aliases.includes(id));
  return own?.name ?? id;
}
