import { describe, expect, it } from 'vitest';
import { runHookline } from '../../../cli/hookline.ts';
import { at, createTempWorkspace } from '../../../cli/temp-workspace.ts';
import { startService } from '../../../e2e/service.ts';
import { runProgram } from '../sdk-program.ts';

/** Starts a session with each provider, and reports where its request went with which key. */
const ASKING = `
import { ClineCore, Llms } from 'hookline';
const ask = async (providerId, more = {}) => {
  let request = null;
  const fetch = async (url, { headers }) => {
    const sent = new Headers(headers);
    request ??= [String(url), sent.get('authorization') ?? sent.get('x-api-key')];
    return new Response('{"error":{"message":"no"}}', { status: 400 });
  };
  const core = await ClineCore.create({ backendMode: 'local', fetch });
  try {
    const session = { ...config({ providerId, modelId: 'm', apiKey: 'secret', ...more }) };
    delete session.baseUrl;
    const { result } = await core.start({ config: session, prompt: 'go' });
    report([providerId, ...request, result.model.provider]);
  } catch ({ message, hint }) {
    report([providerId, message, hint]);
  }
  await core.dispose();
};
`;

describe('a provider of Cline’s catalogue', () => {
  it('works by its id, with its own address and wire format', async () => {
    const ids = ['cline', 'groq', 'deepseek', 'xai', 'mistral', 'together', 'moonshot', 'lmstudio'];
    const others = ['vercel-ai-gateway', 'fireworks', 'minimax', 'kilo'];
    const { reports } = await runProgram(
      `${ASKING} for (const id of ${JSON.stringify([...ids, ...others])}) await ask(id);`,
      [],
    );
    const bearer = 'Bearer secret';
    expect(reports).toEqual([
      ['cline', 'https://api.cline.bot/api/v1/chat/completions', bearer, 'cline'],
      ['groq', 'https://api.groq.com/openai/v1/chat/completions', bearer, 'groq'],
      ['deepseek', 'https://api.deepseek.com/v1/chat/completions', bearer, 'deepseek'],
      ['xai', 'https://api.x.ai/v1/chat/completions', bearer, 'xai'],
      ['mistral', 'https://api.mistral.ai/v1/chat/completions', bearer, 'mistral'],
      ['together', 'https://api.together.xyz/v1/chat/completions', bearer, 'together'],
      ['moonshot', 'https://api.moonshot.ai/v1/chat/completions', bearer, 'moonshot'],
      ['lmstudio', 'http://localhost:1234/v1/chat/completions', bearer, 'lmstudio'],
      [
        'vercel-ai-gateway',
        'https://ai-gateway.vercel.sh/v1/chat/completions',
        bearer,
        'vercel-ai-gateway',
      ],
      ['fireworks', 'https://api.fireworks.ai/inference/v1/chat/completions', bearer, 'fireworks'],
      ['minimax', 'https://api.minimax.io/anthropic/v1/messages', 'secret', 'minimax'],
      ['kilo', 'https://api.kilo.ai/api/gateway/responses', bearer, 'kilo'],
    ]);
  });

  it('sends a request for every id of the catalogue', async () => {
    const { reports } = await runProgram<readonly [id: string, url: string]>(
      `${ASKING}
      const settings = { DATABRICKS_HOST: 'h', CLOUDFLARE_ACCOUNT_ID: 'a', SNOWFLAKE_ACCOUNT: 's',
        INFOMANIAK_PRODUCT_ID: 'p', NEON_AI_GATEWAY_BASE_URL: 'https://neon.example' };
      Object.assign(process.env, settings);
      for (const id of Llms.getProviderIds()) if (id !== 'openai-compatible') await ask(id);`,
      [],
    );
    expect(reports.length).toBeGreaterThan(200);
    expect(reports.filter(([, url]) => !/^https?:\/\/[\w.-]+(?::\d+)?\/\S/.test(url))).toEqual([]);
    expect(reports).toContainEqual([
      'databricks',
      'https://h/ai-gateway/mlflow/v1/chat/completions',
      'Bearer secret',
      'databricks',
    ]);
  });

  it('takes its key from its own variable, which workspace hooks do not get', async () => {
    const { reports } = await runProgram(
      `${ASKING} await ask('groq', { apiKey: undefined });`,
      [],
      {
        env: { GROQ_API_KEY: 'from the environment' },
      },
    );
    expect(reports).toEqual([
      [
        'groq',
        'https://api.groq.com/openai/v1/chat/completions',
        'Bearer from the environment',
        'groq',
      ],
    ]);
  });

  it('is named with its key when that is missing, also by the command', async () => {
    const workspace = createTempWorkspace();
    const args = ['run', '-P', 'groq', '-m', 'llama', 'hello there'];
    const { code, stderr } = await runHookline(args, at(workspace));
    expect([code, stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining('no API key found for Groq (GROQ_API_KEY)'),
    ]);
    const service = await startService([{ text: 'Hello from Groq.' }]);
    const answered = await runHookline(
      [...args, '--base-url', service.url],
      at(workspace, { env: { GROQ_API_KEY: 'k' } }),
    );
    expect([answered.code, answered.stdout.trim()]).toEqual([0, 'Hello from Groq.']);
  });
});

it('an unknown provider is refused with the nearest name, one with a format of its own with its reason', async () => {
  const { reports } = await runProgram(
    `${ASKING} for (const id of ['gruq', 'vercel-ai-gatway', 'bedrock']) await ask(id);`,
    [],
  );
  expect(reports).toEqual([
    ['gruq', 'unknown model provider "gruq"', expect.stringContaining('Did you mean "groq"?')],
    [
      'vercel-ai-gatway',
      'unknown model provider "vercel-ai-gatway"',
      expect.stringContaining('Did you mean "vercel-ai-gateway"?'),
    ],
    [
      'bedrock',
      'provider "bedrock" uses signed requests of AWS, which Hookline does not speak',
      expect.stringContaining('Llms.registerHandler("bedrock", …)'),
    ],
  ]);
});
