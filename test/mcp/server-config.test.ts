import { expect, test } from 'vitest';
import { expandServer } from '../../src/mcp/server-config.ts';

const ENV = { KEY: 'k1', EMPTY: '', HOST: 'example.org' };

test('variables of an entry are filled in, with their defaults, and those that are missing are named', () => {
  const endpoint = {
    type: 'stdio',
    command: '${ROOT}/bin/server',
    args: ['--key=${KEY}', '${LEVEL:-info}', '${EMPTY:-none}', '$KEY', '${NOT_THERE}'],
    env: { TOKEN: '${KEY}', OTHER: '${ALSO_MISSING}' },
    cwd: '${ROOT}',
  } as const;
  expect(expandServer({ endpoint, variables: { ROOT: '/plugin' } }, ENV)).toEqual({
    endpoint: {
      type: 'stdio',
      command: '/plugin/bin/server',
      args: ['--key=k1', 'info', 'none', '$KEY', '${NOT_THERE}'],
      env: { TOKEN: 'k1', OTHER: '${ALSO_MISSING}' },
      cwd: '/plugin',
    },
    missing: ['NOT_THERE', 'ALSO_MISSING'],
  });
});

test('an address and its headers are filled in, too', () => {
  const endpoint = {
    type: 'http',
    url: 'https://${HOST}/mcp',
    headers: { Authorization: 'Bearer ${KEY}' },
  } as const;
  expect(expandServer({ endpoint, variables: {} }, ENV)).toEqual({
    endpoint: {
      type: 'http',
      url: 'https://example.org/mcp',
      headers: { Authorization: 'Bearer k1' },
    },
    missing: [],
  });
});
