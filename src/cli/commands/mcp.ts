import type { Host } from '../../host/create-host.ts';
import {
  formatServerLocation,
  findServers,
  getOwnServersFile,
} from '../../host/mcp/find-servers.ts';
import type { McpStatus } from '../../host/mcp/mcp-servers.ts';
import { type BrokenServer, describeEndpoint } from '../../mcp/server-config.ts';
import { type Command, withHost, rejectInsideSession, toHostOptions } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { colors, formatState } from '../output/colors.ts';
import { toOneLine, formatCount, toPrintable } from '../output/print.ts';
import { redactObject } from '../../host/redact-object.ts';
import { HooklineError, getErrorMessage } from '../../base/errors.ts';
import { addServer, removeServer } from '../../mcp/edit-servers.ts';
import { findClosestName } from '../../base/did-you-mean.ts';
import { openHooks } from '../../host/open-hooks.ts';
import path from 'node:path';
import { readSettingsTextIfPresent, updatePrivateFile } from '../../base/files.ts';
import { runEdit, openConfigFile } from '../../dialects/hooks-file.ts';

/** `hookline mcp list`: every server with its state and tools. */
export const listServers: Command<object> = (context) => {
  return withHost(
    context,
    async (host) => {
      const { statuses, broken } = await host.mcpServers();
      const servers = statuses.map((status) => toListedServer(status, host));
      const listing = await redactObject({ servers, broken }, context.flags);
      if (context.flags.json === true) context.print.json(listing);
      else context.print.out(formatListing(listing.servers, listing.broken, host));
      return EXIT.fine;
    },
    // The listing itself contains the notices.
    { onNotice: () => undefined },
  );
};

function toListedServer({ config, state, why, tools }: McpStatus, host: Host) {
  const { name, source, file, line, place, root, endpoint } = config;
  const runs = describeEndpoint(endpoint);
  const at = formatServerLocation(config, host);
  return {
    name,
    source,
    file,
    line,
    at,
    place,
    root,
    type: endpoint.type,
    runs,
    state,
    why,
    tools,
  };
}

type Listed = ReturnType<typeof toListedServer>;

function formatListing(
  servers: readonly Listed[],
  broken: readonly BrokenServer[],
  host: Host,
): string {
  if (servers.length + broken.length === 0) return NONE;
  const untrusted = servers.filter(({ why }) => /^(?:untrusted|modified)/.test(why)).length;
  return [
    ...servers.map(describeServer),
    ...broken.map((each) => describeBroken(each, host)),
    ...(untrusted === 0
      ? []
      : [
          `${formatCount(untrusted, 'server')} ${untrusted === 1 ? 'needs' : 'need'} review: run \`hookline trust\``,
        ]),
  ].join('\n\n');
}

const NONE = 'No MCP servers configured.\nAdd one with `hookline mcp add NAME -- COMMAND`.';

function describeBroken(broken: BrokenServer, host: Host): string {
  const at = toOneLine(formatServerLocation(broken, host));
  return `${colors.yellow('broken')}  ${at}: ${toPrintable(broken.why)}`;
}

function describeServer({ name, state, why, source, at, runs, type, tools }: Listed): string {
  return [
    `${colors.bold(toOneLine(name))}  ${formatState(state)}${why === '' ? '' : `: ${toPrintable(why)}`}`,
    colors.dim(`  ${source} · ${toOneLine(at)} · ${type} ${toOneLine(toPrintable(runs))}`),
    ...(tools.length === 0
      ? []
      : [`  ${formatCount(tools.length, 'tool')}: ${toOneLine(tools.join(', '))}`]),
  ].join('\n');
}

interface AddServerOptions {
  readonly name: string;
  /** The command line to start. */
  readonly command?: readonly string[];
  readonly url?: string;
  readonly scope?: ServerScope;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
}

/** `hookline mcp add NAME -- COMMAND ARGS…` or `hookline mcp add NAME --url URL` */
export const addMcpServer: Command<AddServerOptions> = (context, options) => {
  // The server will be started with the next session.
  rejectInsideSession(context, 'mcp add');
  const { name, scope = 'user' } = options;
  const entry = buildEntry(options);
  return withHost(context, async (host) => {
    const file = await editServers(host, scope, (text) => addServer(text, name, entry));
    const needsTrust = scope === 'project';
    if (context.flags.json === true) {
      context.print.json({ added: { name, file, entry }, needsTrust });
      return EXIT.fine;
    }
    context.print.out(`Added the MCP server ${toOneLine(name)} to ${toOneLine(file)}.`);
    if (needsTrust) context.print.note('It needs review before it starts: run `hookline trust`');
    return EXIT.fine;
  });
};

function buildEntry(options: AddServerOptions): Record<string, unknown> {
  const { name, command = [], url, env = [], header = [] } = options;
  if (!/^[\w-]+$/.test(name)) {
    throw createUsageError(
      `a server name must consist of letters, digits, dashes and underscores, found ${JSON.stringify(name)}`,
    );
  }
  const [program, ...args] = command;
  if ((program === undefined) === (url === undefined)) {
    throw createUsageError('expected either a command after `--`, or --url');
  }
  if (program !== undefined) {
    if (header.length > 0) throw createUsageError('--header requires --url');
    return {
      command: program,
      ...(args.length === 0 ? {} : { args }),
      ...(env.length === 0 ? {} : { env: parsePairs(env, '--env', '=') }),
    };
  }
  if (env.length > 0) throw createUsageError('--env cannot be combined with --url');
  if (url === undefined || !/^https?:\/\//i.test(url)) {
    throw createUsageError(`--url must be an http or https URL, found ${JSON.stringify(url)}`);
  }
  return {
    type: 'http',
    url,
    ...(header.length === 0 ? {} : { headers: parsePairs(header, '--header', ':') }),
  };
}

function parsePairs(
  written: readonly string[],
  flag: string,
  separator: string,
): Record<string, string> {
  return Object.fromEntries(
    written.map((each) => {
      const at = each.indexOf(separator);
      if (at > 0) return [each.slice(0, at).trim(), each.slice(at + 1).trim()];
      throw createUsageError(
        `${flag} must be NAME${separator}VALUE, found ${JSON.stringify(each)}`,
      );
    }),
  );
}

function createUsageError(message: string): HooklineError {
  return new HooklineError('USAGE_INVALID', {
    message: `mcp add: ${message}`,
    hint: 'For example: hookline mcp add files -- npx -y some-server, or: hookline mcp add docs --url https://example.org/mcp',
  });
}

/** `hookline mcp rm NAME`: removes a server from the user's file or `.mcp.json`. */
export const removeMcpServer: Command<{
  readonly name: string;
  readonly scope?: ServerScope;
}> = (context, { name, scope }) => {
  rejectInsideSession(context, 'mcp rm');
  return withHost(context, async (host) => {
    const scopes: readonly ServerScope[] = scope === undefined ? ['user', 'project'] : [scope];
    for (const each of scopes) {
      const file = await removeFromScope(host, each, name);
      if (file === null) continue;
      if (context.flags.json === true) context.print.json({ removed: { name, file } });
      else context.print.out(`Removed the MCP server ${toOneLine(name)} from ${toOneLine(file)}.`);
      return EXIT.fine;
    }
    throw createUnknownServerError(name, toHostOptions(context.flags));
  });
};

/** The file it was removed from; null when it was not there. */
async function removeFromScope(
  host: Host,
  scope: ServerScope,
  name: string,
): Promise<string | null> {
  let wasRemoved = false;
  const file = await editServers(host, scope, (text) => {
    const without = removeServer(text, name);
    wasRemoved = without !== null;
    return without ?? text;
  });
  return wasRemoved ? file : null;
}

function createUnknownServerError(
  name: string,
  search: Parameters<typeof openHooks>[0],
): HooklineError {
  const opened = openHooks(search);
  const all = findServers(opened, []).servers.map(({ config }) => config);
  const elsewhere = all.find((config) => config.name === name);
  if (elsewhere !== undefined) {
    return new HooklineError('MCP_FAILED', {
      message: `the MCP server ${JSON.stringify(name)} is configured in ${formatServerLocation(elsewhere, opened)}, which belongs to another program`,
      hint: 'Remove it there.',
    });
  }
  const closest = findClosestName(
    name,
    all.map((config) => config.name),
  );
  return new HooklineError('MCP_FAILED', {
    message: `MCP server ${JSON.stringify(name)} not found`,
    hint: closest === null ? 'Run `hookline mcp list`.' : `Did you mean ${closest}?`,
  });
}

/** The user's own servers, or those of this workspace. */
type ServerScope = 'user' | 'project';

/** Edits the servers file of a scope and returns its path. An error of `edit` leaves it unchanged. */
async function editServers(
  host: Host,
  scope: ServerScope,
  edit: (text: string) => string,
): Promise<string> {
  return scope === 'project' ? editProjectServers(host, edit) : editUserServers(host, edit);
}

function editProjectServers({ startDirectory }: Host, edit: (text: string) => string): string {
  const file = path.join(startDirectory, '.mcp.json');
  const opened = openConfigFile(file, startDirectory);
  const changed = runEdit(file, () => edit(opened.text));
  if (changed !== opened.text) opened.write(changed);
  return file;
}

/** A private file, because entries may contain keys. */
async function editUserServers(host: Host, edit: (text: string) => string): Promise<string> {
  const file = getOwnServersFile(host);
  if (file === null) throw createUnwritableError('no home directory for MCP servers');
  const applyEdit = (text: string | null): string => runEdit(file, () => edit(text ?? ''));
  try {
    const text = readSettingsTextIfPresent(file);
    // An unchanged file must not be created.
    if (applyEdit(text) !== (text ?? '')) await updatePrivateFile(file, applyEdit);
  } catch (error) {
    if (error instanceof HooklineError) throw error;
    throw createUnwritableError(`${file} cannot be written: ${getErrorMessage(error)}`);
  }
  return file;
}

function createUnwritableError(message: string): HooklineError {
  return new HooklineError('CONFIG_UNWRITABLE', {
    message,
    hint: 'Check HOME, the directory’s permissions and the disk space, or use --scope project.',
  });
}
