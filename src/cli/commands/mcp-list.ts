import type { Host } from '../../host/create-host.ts';
import { serverPlace } from '../../host/mcp/find-servers.ts';
import type { McpStatus } from '../../host/mcp/mcp-servers.ts';
import { type BrokenServer, describeReached } from '../../mcp/server-config.ts';
import { type Command, withHost } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { colors } from '../words/colors.ts';
import { oneLine, plural, printable } from '../words/print.ts';
import { withoutSecrets } from '../../host/secrets/without-secrets.ts';

/** `hookline mcp list`: every server, whether it may start, whether it answers, and its tools. */
export const listServers: Command<object> = (context) => {
  return withHost(
    context,
    async (host) => {
      const { statuses, broken } = await host.mcpServers();
      const servers = statuses.map((status) => describe(status, host));
      const listing = await withoutSecrets({ servers, broken }, context.flags);
      if (context.flags.json === true) context.print.json(listing);
      else context.print.out(readable(listing, host));
      return EXIT.fine;
    },
    // The listing itself says what would be noticed.
    { onNotice: () => undefined },
  );
};

function describe({ config, state, why, tools }: McpStatus, host: Host) {
  const { name, source, file, line, place, root, reached } = config;
  const runs = describeReached(reached);
  const at = serverPlace(config, host);
  return { name, source, file, line, at, place, root, type: reached.type, runs, state, why, tools };
}

type Listed = ReturnType<typeof describe>;

interface Listing {
  readonly servers: readonly Listed[];
  readonly broken: readonly BrokenServer[];
}

function readable({ servers, broken }: Listing, host: Host): string {
  if (servers.length + broken.length === 0) return NONE;
  const untrusted = servers.filter(({ why }) => /^(?:untrusted|modified)/.test(why)).length;
  return [
    ...servers.map(describeServer),
    ...broken.map((each) => describeBroken(each, host)),
    ...(untrusted === 0
      ? []
      : [`${plural(untrusted, 'server')} not started until you have looked: \`hookline trust\``]),
  ].join('\n\n');
}

const NONE = 'No MCP servers are configured.\nAdd one with `hookline mcp add NAME -- COMMAND`.';

function describeBroken(broken: BrokenServer, host: Host): string {
  const at = oneLine(serverPlace(broken, host));
  return `${colors.yellow('broken')}  ${at}: ${printable(broken.why)}`;
}

function describeServer({ name, state, why, source, at, runs, type, tools }: Listed): string {
  return [
    `${colors.bold(oneLine(name))}  ${paint(state)}${why === '' ? '' : `: ${printable(why)}`}`,
    colors.dim(`  ${source} · ${oneLine(at)} · ${type} ${oneLine(printable(runs))}`),
    ...(tools.length === 0
      ? []
      : [`  ${plural(tools.length, 'tool')}: ${oneLine(tools.join(', '))}`]),
  ].join('\n');
}

function paint(state: McpStatus['state']): string {
  if (state === 'connected') return colors.green(state);
  return state === 'unused' ? colors.dim(state) : colors.yellow(state);
}
