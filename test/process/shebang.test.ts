import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { baseName, parseShebang, type Shebang } from '../../src/process/shebang.ts';

function shebang(wanted: Partial<Shebang> & { interpreter: string }): Shebang {
  return {
    args: [],
    variables: [],
    kernelProgram: wanted.interpreter,
    isKernelReady: true,
    ...wanted,
  };
}

const env = { kernelProgram: '/usr/bin/env' };

test.each<[string, Shebang]>([
  ['#!/bin/bash\necho', shebang({ interpreter: '/bin/bash' })],
  ['#!/bin/bash', shebang({ interpreter: '/bin/bash' })],
  ['#! \t/bin/sh -e \n', shebang({ interpreter: '/bin/sh', args: ['-e'] })],
  ['#!/usr/bin/env python3\n', shebang({ ...env, interpreter: 'python3' })],
  [
    '#!/usr/bin/env -S bun run --smol\n',
    shebang({ ...env, interpreter: 'bun', args: ['run', '--smol'] }),
  ],
  ['#!/usr/bin/env -Snpx tsx\n', shebang({ ...env, interpreter: 'npx', args: ['tsx'] })],
  [
    `#!/usr/bin/env --split-string=node "--title=a b" 'c d'\n`,
    shebang({ ...env, interpreter: 'node', args: ['--title=a b', 'c d'] }),
  ],
  [
    '#!/usr/bin/env -S DEBUG=1 X= node\n',
    shebang({ ...env, interpreter: 'node', variables: ['DEBUG=1', 'X='] }),
  ],
])('%j is understood as the kernel understands it', (head, expected) => {
  expect(parseShebang(head)).toEqual(expected);
});

describe('what the kernel would misread', () => {
  const generous = { isKernelReady: false };

  test.each<[string, string, Shebang]>([
    ['CRLF', '#!/bin/bash\r\necho', shebang({ ...generous, interpreter: '/bin/bash' })],
    ['a byte-order mark', '\uFEFF#!/bin/sh\n', shebang({ ...generous, interpreter: '/bin/sh' })],
    [
      'several arguments',
      '#!/bin/bash -e -u\n',
      shebang({ ...generous, interpreter: '/bin/bash', args: ['-e', '-u'] }),
    ],
    [
      'arguments after env without -S',
      '#!/usr/bin/env bash -e\n',
      shebang({ ...generous, ...env, interpreter: 'bash', args: ['-e'] }),
    ],
    [
      'variables without -S',
      '#!/usr/bin/env A=b node\n',
      shebang({ ...generous, ...env, interpreter: 'node', variables: ['A=b'] }),
    ],
    [
      'a line that older kernels cut',
      `#!/${'x'.repeat(200)}\n`,
      shebang({ ...generous, interpreter: `/${'x'.repeat(200)}` }),
    ],
  ])('%s is still understood', (_, head, expected) => {
    expect(parseShebang(head)).toEqual(expected);
  });
});

test('options that only env can carry out are left to env', () => {
  expect(parseShebang('#!/usr/bin/env -i node\n')).toEqual(
    shebang({ interpreter: '/usr/bin/env', args: ['-i', 'node'], isKernelReady: false }),
  );
  expect(parseShebang('#!/usr/bin/env\n')).toEqual(shebang({ interpreter: '/usr/bin/env' }));
});

test.each(['', 'echo', ' #!/bin/sh', '#!', '#!  \n', '# !/bin/sh', '\n#!/bin/sh'])(
  '%j names no interpreter',
  (head) => {
    expect(parseShebang(head)).toBeNull();
  },
);

test('any text is either a shebang with an interpreter or none', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (rest) => {
      expect(parseShebang(`#!${rest}`)?.interpreter).not.toBe('');
    }),
  );
});

test.each([
  ['/usr/bin/Python3', 'python3'],
  [String.raw`C:\Program Files\nodejs\node.EXE`, 'node'],
  ['bash', 'bash'],
])('the base name of %j is %j', (program, name) => {
  expect(baseName(program)).toBe(name);
});
