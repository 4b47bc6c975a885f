import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const PACKAGES = path.join(import.meta.dirname, 'node_modules');

/** A real agent, and how it does one task against a model on this machine without a person. */
export interface RealAgent {
  /** As `hookline agents` calls it. */
  readonly name: string;
  readonly packageName: string;
  readonly program: string;
  /** Variables beside PATH and HOME. */
  readonly env: (modelUrl: string) => Readonly<Record<string, string>>;
  /** Commands that set it up in a new home, before the task. */
  readonly setUp: (modelUrl: string) => readonly (readonly string[])[];
  /** Writes the settings that it needs to reach the model. */
  readonly configure: (home: string, modelUrl: string) => void;
  readonly taskArgs: readonly string[];
}

const PROMPT = 'say hi';
const NOTHING = (): void => undefined;
const NO_COMMANDS = (): readonly (readonly string[])[] => [];

export const REAL_AGENTS: readonly RealAgent[] = [
  {
    name: 'claude',
    packageName: '@anthropic-ai/claude-code',
    program: path.join(PACKAGES, '@anthropic-ai', `claude-code-${getPlatform()}`, 'claude'),
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'none',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // It refuses to skip its questions as root outside of a container.
      IS_SANDBOX: '1',
    }),
    setUp: NO_COMMANDS,
    configure: NOTHING,
    taskArgs: ['-p', PROMPT, '--dangerously-skip-permissions', '--model', 'claude-sonnet-4-5'],
  },
  {
    name: 'cline',
    packageName: 'cline',
    program: path.join(PACKAGES, '.bin', 'cline'),
    env: () => ({ CLINE_NO_AUTO_UPDATE: '1' }),
    setUp: (url) => [
      [
        'auth',
        '--provider',
        'openai-compatible',
        '--modelid',
        'fake',
        '--baseurl',
        `${url}/v1`,
        '--apikey',
        'none',
      ],
    ],
    configure: NOTHING,
    taskArgs: ['-P', 'openai-compatible', '-m', 'fake', '-k', 'none', '--json', PROMPT],
  },
  {
    name: 'codex',
    packageName: '@openai/codex',
    program: path.join(PACKAGES, '.bin', 'codex'),
    env: () => ({ FAKE_KEY: 'none' }),
    setUp: NO_COMMANDS,
    configure: configureCodex,
    // The hooks were installed by this very run; its user would review them in /hooks.
    taskArgs: [
      'exec',
      '--dangerously-bypass-hook-trust',
      '--skip-git-repo-check',
      '-s',
      'danger-full-access',
      PROMPT,
    ],
  },
  {
    name: 'gemini',
    packageName: '@google/gemini-cli',
    program: path.join(PACKAGES, '.bin', 'gemini'),
    env: (url) => ({ GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url }),
    setUp: NO_COMMANDS,
    configure: (home) =>
      writeAuthentication(path.join(home, '.gemini', 'settings.json'), 'gemini-api-key'),
    taskArgs: ['-m', 'gemini-2.5-flash', '--yolo', '--skip-trust', '-p', PROMPT],
  },
  {
    name: 'copilot',
    packageName: '@github/copilot',
    program: path.join(PACKAGES, '.bin', 'copilot'),
    env: (url) => ({
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: 'none',
      COPILOT_MODEL: 'fake',
    }),
    setUp: NO_COMMANDS,
    configure: NOTHING,
    taskArgs: ['--allow-all-tools', '-p', PROMPT],
  },
  {
    name: 'qwen',
    packageName: '@qwen-code/qwen-code',
    program: path.join(PACKAGES, '.bin', 'qwen'),
    env: (url) => ({ OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'fake' }),
    setUp: NO_COMMANDS,
    configure: (home) => writeAuthentication(path.join(home, '.qwen', 'settings.json'), 'openai'),
    taskArgs: ['--yolo', '-p', PROMPT],
  },
  {
    name: 'opencode',
    packageName: 'opencode-ai',
    program: path.join(PACKAGES, `opencode-${getPlatform()}`, 'bin', 'opencode'),
    env: () => ({}),
    setUp: NO_COMMANDS,
    configure: configureOpencode,
    taskArgs: ['run', PROMPT],
  },
];

/** As packages with programs for one platform are named. */
function getPlatform(): string {
  return `${process.platform}-${process.arch}`;
}

/** The version that was installed; null when it was not. */
export function readVersion({ packageName }: RealAgent): string | null {
  const manifest = path.join(PACKAGES, packageName, 'package.json');
  if (!existsSync(manifest)) return null;
  const { version }: { version: string } = JSON.parse(readFileSync(manifest, 'utf8'));
  return version;
}

function configureCodex(home: string, url: string): void {
  writeSettings(
    path.join(home, '.codex', 'config.toml'),
    [
      'model = "fake"',
      'model_provider = "fake"',
      '',
      '[model_providers.fake]',
      'name = "fake"',
      `base_url = "${url}/v1"`,
      'wire_api = "responses"',
      'env_key = "FAKE_KEY"',
      '',
    ].join('\n'),
  );
}

function configureOpencode(home: string, url: string): void {
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    name: 'fake',
    options: { baseURL: `${url}/v1`, apiKey: 'none' },
    models: { fake: { name: 'fake', tool_call: true } },
  };
  const settings = { model: 'fake/fake', autoupdate: false, provider: { fake: provider } };
  writeSettings(path.join(home, '.config', 'opencode', 'opencode.json'), JSON.stringify(settings));
}

function writeAuthentication(file: string, authentication: string): void {
  const settings = { security: { auth: { selectedType: authentication } } };
  writeSettings(file, `${JSON.stringify(settings, null, 2)}\n`);
}

function writeSettings(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
