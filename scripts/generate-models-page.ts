import { FAILURE_CLASSES } from '../src/agent/models/model.ts';
import { type Provider, PROVIDERS } from '../src/agent/models/providers.ts';
import { MODEL_SERVICES } from '../src/base/model-services.ts';
import type { GeneratedFile } from './generated-file.ts';
import { code, formatPage, formatTable } from './markdown.ts';

export function modelsPage(): GeneratedFile {
  return {
    path: 'docs/reference/models.md',
    text: formatPage('Models', 'src/agent/models', [
      'A provider is named with `-P`, `HOOKLINE_PROVIDER` or the setting `model.provider`, a model with `-m`, `HOOKLINE_MODEL` or `model.id`. `--base-url` works for every provider; an address without a path gets the usual one.',
      '## Providers',
      formatTable(
        ['Provider', 'What it is', 'Model unless named', 'Address', 'Key, in this order'],
        PROVIDERS.map(providerRow),
      ),
      'A key is taken from `--key`, then `model.key` of your own configuration if the provider is the configured one, then the environment. The variables above and below are withheld from workspace hooks.',
      '## Further services',
      'Each is a provider by its id in Cline’s catalogue, and needs a model (`-m`). Variables in braces are part of the address. Where no variable of a key is listed, pass the key: the variable is one that other tools use, too, so that it is not read. A plugin may serve such an id itself.',
      formatTable(
        ['Provider', 'Name', 'Address', 'Key'],
        MODEL_SERVICES.map(({ id, label, baseUrl, keyVariables }) => [
          code(id),
          label,
          code(baseUrl),
          keyVariables.map(code).join(', '),
        ]),
      ),
      '## The scripted model',
      'A script is a JSON array of turns, one for each request to the model, whoever makes it: sub-agents, compactions and hooks that ask the model take the next turn, too. Asked once more than it has turns, the model fails. Other fields are an error that names their place.',
      formatTable(['Field', 'Meaning'], TURN_FIELDS),
      `Failures are ${FAILURE_CLASSES.map(code).join(', ')}.`,
      EXAMPLE,
    ]),
  };
}

function providerRow({ name, aliases, ...provider }: Provider): string[] {
  const { description: about, defaultModel, baseUrl, keyVariables, needsKey } = provider;
  return [
    [name, ...aliases].map(code).join(' or '),
    about,
    defaultModel === null ? 'none' : code(defaultModel),
    baseUrl === null ? 'none' : code(baseUrl),
    `${keyVariables.map(code).join(', ')}${needsKey ? '' : ' (not needed)'}`,
  ];
}

const TURN_FIELDS: readonly (readonly string[])[] = [
  ['`text`', 'what it says'],
  ['`thinking`', 'what it thinks before'],
  [
    '`tools`',
    'the calls that it makes: `{ "name", "input", "id"? }`, a name of any tool set; an input that is a text stands for arguments that are not JSON',
  ],
  [
    '`usage`',
    '`inputTokens`, `outputTokens`, `cacheReadTokens`, `cacheWriteTokens`; what is not named is estimated from the length of the text',
  ],
  [
    '`failure`',
    'it fails after its text: `{ "class", "message"?, "status"?, "retryable"? }`, which is tried again as a real one would be',
  ],
];

const EXAMPLE = `\`\`\`json
[
  { "text": "I look first.", "tools": [{ "name": "Read", "input": { "file_path": "notes.txt" } }] },
  { "tools": [{ "name": "execute_command", "input": { "command": "ls" } }] },
  { "text": "Done." }
]
\`\`\``;
