import { readFileSync } from 'node:fs';
import { createTool, type AgentPlugin } from '@cline/core';
import { countWords } from './count-words.ts';

const house = readFileSync(new URL('./assets/house-style.md', import.meta.url), 'utf8');

const plugin: AgentPlugin = {
  name: 'team-tools',
  manifest: { capabilities: ['tools', 'rules', 'commands'] },
  setup(api) {
    api.registerTool(
      createTool({
        name: 'count_words',
        description: 'Count the words of a text.',
        inputSchema: {
          type: 'object',
          properties: { text: { type: 'string' } },
          required: ['text'],
        },
        execute: async ({ text }: { text: string }) => ({ words: countWords(text) }),
      }),
    );
    api.registerRule({ id: 'house-style', content: house });
    api.registerCommand({
      name: 'words',
      description: 'count the words after it',
      handler: (input) => `${countWords(input)} words`,
    });
  },
};

export default plugin;
