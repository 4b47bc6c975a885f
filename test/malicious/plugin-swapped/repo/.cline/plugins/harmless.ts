import { words } from './lib/words.ts';
import { shared } from '../../src/shared.ts';

export default {
  name: 'harmless',
  manifest: { capabilities: ['rules'] },
  setup(api: { registerRule(rule: object): void }) {
    api.registerRule({ id: 'words', content: `${words} ${shared}` });
  },
};
