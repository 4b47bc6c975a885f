/** A case, or what of it cannot be seen without an agent: it shows only in the agent's loop. */
export interface Due {
  readonly group: string;
  /** A case, or `*` for all of the group. */
  readonly case: string;
  readonly reason: string;
}

/**
 * What comes with the agent host. Where a decision is part of the case, a test here checks it; what
 * the agent then does with the decision is due there.
 */
export const DUE_IN_HOST: readonly Due[] = [
  {
    group: '03-pre-cases',
    case: 'upd_invalid',
    reason: 'the tool itself checks the rewritten input before it runs, and refuses the call',
  },
  {
    group: '04-pre-stop',
    case: '*',
    reason: 'the turn ends after the call, and a deferred call waits for the session to be resumed',
  },
  {
    group: '08-sessionstart',
    case: 'ium',
    reason: 'the message becomes the first turn, before the prompt',
  },
  {
    group: '09-stop',
    case: '*',
    reason: 'the model reads the feedback in a further turn; the guard that counts is tested here',
  },
  {
    group: '17-envfile',
    case: 'seen',
    reason: 'the files are sourced before each Bash call, which needs the Bash tool',
  },
  {
    group: '22-prompt',
    case: '*',
    reason: 'the request to the model itself: no tools, thinking switched off',
  },
  {
    group: '23-agent',
    case: 'verify',
    reason: 'the sub-agent that answers, with its tools and at most 50 turns',
  },
  {
    group: '27-frontmatter',
    case: '*',
    reason:
      'a skill that is invoked and a sub-agent that starts bring their hooks into the session',
  },
  {
    group: '28-permreq',
    case: 'none',
    reason: 'without an answer the person is asked, or the call is denied when nobody is there',
  },
  {
    group: '28-permreq',
    case: 'afterperm',
    reason: 'a rule that an earlier answer added lets the call pass without a question',
  },
  {
    group: '29-permrules',
    case: '*',
    reason: 'deny and ask rules are judged by the agent after the hooks',
  },
  {
    group: '35-modelswitch',
    case: '*',
    reason: 'the switch of the model itself; without a person, to ask means to refuse',
  },
  {
    group: '38-caps',
    case: 'tool output',
    reason: 'the Bash tool cuts its own output and keeps the whole of it in a file',
  },
  {
    group: '39-misc-out',
    case: 'batch stop',
    reason: 'the loop ends after the batch',
  },
  {
    group: '39-misc-out',
    case: 'DISPLAYED',
    reason: 'the text is shown; transcript and model keep the original',
  },
  {
    group: '40-precompact',
    case: '*',
    reason: 'the compaction itself, whose instructions the text is added to',
  },
  {
    group: '43-reload',
    case: 'fc',
    reason: 'the agent watches the files that matchers and watchPaths name',
  },
  {
    group: '46-denyfmt',
    case: 'Edit',
    reason: 'a file that was not read is refused by the tool before any hook is asked',
  },
  {
    group: '47-elicit2',
    case: '*',
    reason: 'the answer goes to the MCP server, and there is no result when a hook answered',
  },
];
