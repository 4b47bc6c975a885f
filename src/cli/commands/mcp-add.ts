import { HooklineError } from '../../base/errors.ts';
import { addServer } from '../../mcp/edit-servers.ts';
import { type Command, refuseInsideSession, withHost } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { editServers, type ServerScope } from '../state/servers-file.ts';
import { oneLine } from '../words/print.ts';

export interface AddServerOptions {
  readonly name: string;
  /** What is started, word for word. */
  readonly command?: readonly string[];
  readonly url?: string;
  readonly scope?: ServerScope;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
}

/** `hookline mcp add NAME -- COMMAND ARGS…` or `hookline mcp add NAME --url URL` */
export const addMcpServer: Command<AddServerOptions> = (context, options) => {
  // Whatever stands there is started at the next session.
  refuseInsideSession(context, 'mcp add');
  const { name, scope = 'user' } = options;
  const entry = entryOf(options);
  return withHost(context, async (host) => {
    const file = await editServers(host, scope, (text) => addServer(text, { name, entry }));
    const needsTrust = scope === 'project';
    if (context.flags.json === true) {
      context.print.json({ added: { name, file, entry }, needsTrust });
      return EXIT.fine;
    }
    context.print.out(`Added the MCP server ${oneLine(name)} to ${oneLine(file)}.`);
    if (needsTrust) context.print.note('It starts once you have looked at it: `hookline trust`');
    return EXIT.fine;
  });
};

function entryOf(options: AddServerOptions): Record<string, unknown> {
  const { name, command = [], url, env = [], header = [] } = options;
  if (!/^[\w-]+$/.test(name)) {
    throw usage(
      `a server’s name should be letters, digits, dashes and underscores, found ${JSON.stringify(name)}`,
    );
  }
  const [program, ...args] = command;
  if ((program === undefined) === (url === undefined)) {
    throw usage('expected either a command after `--`, or --url');
  }
  if (program !== undefined) {
    if (header.length > 0) throw usage('--header is for servers with --url');
    return {
      command: program,
      ...(args.length === 0 ? {} : { args }),
      ...(env.length === 0 ? {} : { env: pairs(env, { flag: '--env', separator: '=' }) }),
    };
  }
  if (env.length > 0) throw usage('--env is for servers that are started, not for --url');
  if (url === undefined || !/^https?:\/\//i.test(url)) {
    throw usage(`--url should be an http or https address, found ${JSON.stringify(url)}`);
  }
  return {
    type: 'http',
    url,
    ...(header.length === 0
      ? {}
      : { headers: pairs(header, { flag: '--header', separator: ':' }) }),
  };
}

interface Pairing {
  readonly flag: string;
  readonly separator: string;
}

function pairs(written: readonly string[], { flag, separator }: Pairing): Record<string, string> {
  return Object.fromEntries(
    written.map((each) => {
      const at = each.indexOf(separator);
      if (at > 0) return [each.slice(0, at).trim(), each.slice(at + 1).trim()];
      throw usage(`${flag} should be NAME${separator}VALUE, found ${JSON.stringify(each)}`);
    }),
  );
}

function usage(message: string): HooklineError {
  return new HooklineError('USAGE_INVALID', {
    message: `mcp add: ${message}`,
    hint: 'For example: hookline mcp add files -- npx -y some-server, or: hookline mcp add docs --url https://example.org/mcp',
  });
}
