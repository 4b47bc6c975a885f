import { expect } from 'vitest';
import { bash, command, expectVerdict, type Group, hooks, type OpenFixture } from '../../fixture.ts';
import { serve } from '../../server.ts';

const permission = (decision: object): string =>
  `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } })}'`;
const ALLOW = permission({ behavior: 'allow' });
const DENY = permission({ behavior: 'deny', message: 'FAST DENY' });
const SLOW_DENY = permission({ behavior: 'deny', message: 'SLOW DENY' });

/** What it does only once another one has ended. */
const afterwards = (text: string): string =>
  `while [ ! -e fast.done ]; do sleep 0.01; done; ${text}`;
const first = (text: string): string => `${text}; : > fast.done`;

export const misc2: Group = {
  name: '49-misc2',
  cases: [
    { name: 'toplevel_ctx', run: ignoresTopLevelContext },
    { name: 'settings_env', run: setsVariables },
    {
      name: 'pr_allow_deny',
      run: (openFixture) =>
        requestsPermission(openFixture, [first(ALLOW), afterwards(SLOW_DENY)], ['SLOW DENY']),
    },
    {
      name: 'pr_deny_allow',
      run: (openFixture) => requestsPermission(openFixture, [first(DENY), afterwards(ALLOW)], ['FAST DENY']),
    },
    { name: 'ups_block_and_ctx', run: blocksBesideContext },
    { name: 'stop_block_contfalse', run: endsOverBlock },
    { name: 'http_allow', run: allowsListedUrls },
    { name: 'ss_prompt', run: knowsNoPromptAtStart },
    { name: 'se_timeout', run: raisesBudget },
    { name: 'se_env', run: readsBudgetFromEnvironment },
    { name: 'ups30', run: waitsThirtySeconds },
  ],
};

async function ignoresTopLevelContext(openFixture: OpenFixture): Promise<void> {
  const { fire } = await openFixture({
    project: hooks('PreToolUse', [command(`echo '{"additionalContext":"x"}'`)]),
  });
  const verdict = await fire('PreToolUse', bash('true'));
  expectVerdict(verdict, {});
  expect(verdict.outcomes[0]?.warnings?.join('\n')).toContain('additionalContext');
}

async function setsVariables(openFixture: OpenFixture): Promise<void> {
  const { fire, lines } = await openFixture({
    user: {
      env: { FROM_SETTINGS: 'yes' },
      ...hooks('PreToolUse', [command('echo "$FROM_SETTINGS $FROM_WORKSPACE" > env.log')]),
    },
    project: {
      env: { FROM_SETTINGS: 'no', FROM_WORKSPACE: 'its own' },
      ...hooks('PreToolUse', [command('echo "$FROM_SETTINGS $FROM_WORKSPACE" > own.log')]),
    },
  });
  await fire('PreToolUse', bash('true'));
  expect(lines('env.log')).toEqual(['yes ']);
  expect(lines('own.log')).toEqual(['no its own']);
}

async function requestsPermission(
  openFixture: OpenFixture,
  commands: readonly string[],
  reasons: readonly string[],
): Promise<void> {
  const { fire } = await openFixture({
    project: hooks(
      'PermissionRequest',
      commands.map((text) => command(text)),
    ),
  });
  expectVerdict(await fire('PermissionRequest', bash('touch x')), { effect: 'deny', reasons });
}

async function blocksBesideContext(openFixture: OpenFixture): Promise<void> {
  const blocks = afterwards('echo no >&2; exit 2');
  const { fire } = await openFixture({
    project: hooks('UserPromptSubmit', [command(blocks), command(first('echo some context'))]),
  });
  expectVerdict(await fire('UserPromptSubmit'), {
    effect: 'deny',
    reasons: [`[${blocks}]: no`],
    context: ['some context'],
  });
}

async function endsOverBlock(openFixture: OpenFixture): Promise<void> {
  const { fire } = await openFixture({
    project: hooks('Stop', [
      command(`echo '{"decision":"block","reason":"more"}'`),
      command(`echo '{"continue":false,"stopReason":"enough"}'`),
    ]),
  });
  expectVerdict(await fire('Stop'), {
    stop: { reason: 'enough', pending: 'run' },
    reasons: ['more', 'enough'],
  });
}

async function allowsListedUrls(openFixture: OpenFixture): Promise<void> {
  const server = await serve((url) => ({ status: 200, body: url === '/hook/none' ? '' : '{}' }));
  const headers = { 'x-both': '$LISTED|$UNLISTED' };
  const entry = (name: string): object => ({
    type: 'http',
    url: `${server.url}/hook/${name}`,
    headers,
    allowedEnvVars: ['LISTED', 'UNLISTED'],
  });
  const { fire } = await openFixture({
    user: { allowedHttpHookUrls: [`${server.url}/hook/ok*`], httpHookAllowedEnvVars: ['LISTED'] },
    project: hooks('PreToolUse', [entry('ok1'), entry('bad')]),
    env: { LISTED: 'okv', UNLISTED: 'secret' },
  });
  const verdict = await fire('PreToolUse', bash('true'));
  await server.close();
  expect(server.requests.map(({ url, headers: sent }) => [url, sent['x-both']])).toEqual([
    ['/hook/ok1', 'okv|'],
  ]);
  expect(verdict.outcomes.map(({ failure }) => failure?.message ?? null)).toEqual([
    null,
    `HTTP hook blocked: ${server.url}/hook/bad does not match any pattern in allowedHttpHookUrls`,
  ]);
}

async function knowsNoPromptAtStart(openFixture: OpenFixture): Promise<void> {
  const { fire, host } = await openFixture({
    project: hooks('SessionStart', [
      { type: 'prompt', prompt: 'Is it fine?' },
      command('echo ran > ss-cmd-ran'),
    ]),
    host: { ports: { askModel: () => Promise.resolve('{"ok":false,"reason":"no"}') } },
  });
  const verdict = await fire('SessionStart');
  expect(verdict.context).toEqual([]);
  const report = [
    ...verdict.outcomes.map(({ failure }) => failure?.message ?? ''),
    ...host.hooks().map(({ why }) => why),
    ...host.ignored().map(({ why }) => why),
  ].join('\n');
  expect(report).toMatch(/prompt.*SessionStart|SessionStart.*prompt/u);
}

/** Longer than the usual 1.5 seconds that all of them share. */
const SLOW = 'sleep 2; : > se-done';

async function raisesBudget(openFixture: OpenFixture): Promise<void> {
  const { fire, has } = await openFixture({
    project: hooks('SessionEnd', [command(SLOW, { timeout: 30 })]),
  });
  expectVerdict(await fire('SessionEnd'), {});
  expect(has('se-done')).toBe(true);
}

async function readsBudgetFromEnvironment(openFixture: OpenFixture): Promise<void> {
  const { fire, has } = await openFixture({
    project: hooks('SessionEnd', [command(SLOW)]),
    env: { CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS: '30000' },
  });
  expectVerdict(await fire('SessionEnd'), {});
  expect(has('se-done')).toBe(true);
}

/** The limit is checked in the entry, not waited for. */
async function waitsThirtySeconds(openFixture: OpenFixture): Promise<void> {
  const { fire, host } = await openFixture({ project: hooks('UserPromptSubmit', [command('true')]) });
  expectVerdict(await fire('UserPromptSubmit'), {});
  expect(host.hooks().map(({ timeoutMs }) => timeoutMs)).toEqual([30_000]);
}
