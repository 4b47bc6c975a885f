import { startTimeLimit } from '../base/time-limit.ts';
import { waitOrAbort } from '../base/abort.ts';
import { type CallLimit, startCallLimit } from './call-limit.ts';
import {
  loadSchemaCheck,
  dedupeByName,
  listAllPages,
  parsePrompt,
  parseResource,
  parseTools,
  type ServerPrompt,
  type ServerResource,
  type ServerTool,
} from './server-lists.ts';
import { describeFailure, isUnreachable, TransportFailure } from './failures.ts';
import { type ClientOptions, type ListKind, openClient, type OpenClient } from './open-client.ts';
import { type Ask, PendingCalls } from './pending-calls.ts';

export interface ConnectionOptions {
  readonly name: string;
  /** How the server is reached, looked up before each attempt; a string says why it must not be. */
  readonly prepare: () => Pick<ClientOptions, 'endpoint' | 'cwd' | 'env' | 'roots'> | string;
  readonly startTimeoutMs: number;
  readonly callTimeoutMs: number;
  /** Told what a person should know, in words. */
  readonly notice: (text: string) => void;
}

export type ConnectionState =
  | { readonly kind: 'connecting' | 'connected' | 'closed'; readonly why: '' }
  | { readonly kind: 'failed'; readonly why: string };

export interface ServerRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly onProgress?: (text: string) => void;
  readonly ask?: Ask;
}

const RETRY_AFTER_MS = [1000, 2000, 5000, 10_000, 30_000] as const;

/** One server: connected in the background, again when it is lost, and at the latest by the next request. */
export class ServerConnection {
  readonly name: string;
  readonly #options: ConnectionOptions;
  readonly #closing = new AbortController();
  readonly #pending = new PendingCalls((text) => this.#tell(text));
  #state: ConnectionState = { kind: 'connecting', why: '' };
  #client: OpenClient | null = null;
  #opening: Promise<void> | null = null;
  #retry: NodeJS.Timeout | undefined;
  #isWaiting = false;
  /** Since it last answered. */
  #failures = 0;
  #lists: { tools: readonly ServerTool[]; prompts: readonly ServerPrompt[] } = NO_LISTS;
  #isRefreshing = false;
  readonly #stale = new Set<ListKind>();

  constructor(options: ConnectionOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Those that it had last, also while it is away: a call brings it back. */
  get tools(): readonly ServerTool[] {
    return this.#lists.tools;
  }

  get prompts(): readonly ServerPrompt[] {
    return this.#lists.prompts;
  }

  get hasResources(): boolean {
    return this.#client?.has('resources') === true;
  }

  /** Connects unless it is connected; done when it is or has failed. Never rejects. */
  open(): Promise<void> {
    if (this.#client !== null || this.#closing.signal.aborted) return Promise.resolve();
    clearTimeout(this.#retry);
    this.#isWaiting = false;
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  /** Connects as well, unless it has just failed: then it is looked for again soon enough. */
  async openIfDue(): Promise<void> {
    if (!this.#isWaiting) await this.open();
  }

  async #connect(): Promise<void> {
    this.#state = { kind: 'connecting', why: '' };
    const prepared = this.#options.prepare();
    if (typeof prepared === 'string') return this.#fail(prepared);
    const { startTimeoutMs } = this.#options;
    const limit = startTimeLimit(this.#closing.signal, startTimeoutMs);
    try {
      const client = await this.#shakeHands(prepared, limit.signal);
      this.#client = client;
      this.#state = { kind: 'connected', why: '' };
    } catch (error) {
      this.#fail(
        limit.hasExpired()
          ? `it did not answer within ${startTimeoutMs} ms`
          : describeFailure(error),
      );
    } finally {
      limit.clear();
    }
  }

  async #shakeHands(
    prepared: Pick<ClientOptions, 'endpoint' | 'cwd' | 'env' | 'roots'>,
    signal: AbortSignal,
  ): Promise<OpenClient> {
    const opening = openClient({
      ...prepared,
      signal,
      ask: (question, own, asked) =>
        this.#pending.ask({ server: this.name, ...question }, own, asked),
      onListChange: (kind) => this.#refresh(kind),
      onLoss: (why) => this.#lose(why),
    });
    // One that answers too late must not go on running.
    const late = (): void => void opening.then((client) => client.close()).catch(() => undefined);
    const client = await waitOrAbort(opening, signal).catch((error: unknown) => {
      late();
      throw error;
    });
    try {
      await this.#list(client, signal);
      return client;
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  async #list(client: OpenClient, signal: AbortSignal): Promise<void> {
    const [listed, prompts, check] = await Promise.all([
      listAllPages(client, 'tools', signal),
      listAllPages(client, 'prompts', signal).catch(() => []),
      loadSchemaCheck(),
    ]);
    const tools = dedupeByName(parseTools(listed, check));
    const known = new Set(this.#lists.tools.map(({ note }) => note));
    for (const { note } of tools) if (note !== null && !known.has(note)) this.#tell(note);
    this.#lists = {
      tools,
      prompts: dedupeByName(prompts.flatMap((each) => parsePrompt(each) ?? [])),
    };
  }

  #tell(text: string): void {
    this.#options.notice(`MCP server ${this.name}: ${text}`);
  }

  #fail(why: string): void {
    // Whoever closes it knows that it is not there.
    if (this.#closing.signal.aborted) return;
    this.#state = { kind: 'failed', why };
    this.#openLater();
  }

  #lose(why: string): void {
    if (this.#closing.signal.aborted || this.#client === null) return;
    const lost = this.#client;
    this.#client = null;
    void lost.close();
    this.#tell(`lost: ${why}`);
    this.#fail(why);
  }

  /** It is looked for again, ever more seldom, and at last only when it is called. */
  #openLater(): void {
    const wait = RETRY_AFTER_MS[this.#failures];
    this.#failures += 1;
    if (wait === undefined || this.#closing.signal.aborted) return;
    this.#isWaiting = true;
    this.#retry = setTimeout(() => void this.open(), wait);
    this.#retry.unref();
  }

  /** Lists are asked for one after the other, however often a server says that they changed. */
  #refresh(kind: ListKind): void {
    this.#stale.add(kind);
    if (!this.#isRefreshing) void this.#refreshStale();
  }

  async #refreshStale(): Promise<void> {
    this.#isRefreshing = true;
    while (this.#stale.size > 0 && this.#client !== null) {
      await pause(REFRESH_PAUSE_MS);
      this.#stale.clear();
      const limit = startTimeLimit(this.#closing.signal, this.#options.startTimeoutMs);
      // What it had stays when it does not say what it has.
      await this.#list(this.#client, limit.signal).catch(() => undefined);
      limit.clear();
    }
    this.#isRefreshing = false;
  }

  /** Rejects with why there is no answer. */
  async request(request: ServerRequest): Promise<unknown> {
    const { method, params, signal, onProgress, ask = null } = request;
    const client = await this.#connected(signal);
    const { callTimeoutMs } = this.#options;
    const limit = startCallLimit(signal, callTimeoutMs);
    const call = { limit, ask };
    this.#pending.add(call);
    try {
      const asked = { signal: limit.signal, call, ...withProgress(limit, onProgress) };
      const answer = await waitOrAbort(client.request(method, params, asked), limit.signal);
      this.#failures = 0;
      return answer;
    } catch (error) {
      if (limit.hasExpired()) throw new TransportFailure(`no answer within ${callTimeoutMs} ms`);
      if (!limit.signal.aborted && isUnreachable(error)) this.#lose(describeFailure(error));
      throw this.#client === client || signal.aborted
        ? error
        : new TransportFailure(this.#lossWords());
    } finally {
      limit.clear();
      this.#pending.remove(call);
    }
  }

  #lossWords(): string {
    return `the MCP server ${this.name} was lost while it worked: ${this.#state.why}`;
  }

  async #connected(signal: AbortSignal): Promise<OpenClient> {
    if (this.#client === null) await waitOrAbort(this.open(), signal);
    if (this.#client !== null) return this.#client;
    const why = this.#closing.signal.aborted ? 'it was closed' : this.#state.why;
    throw new TransportFailure(`the MCP server ${this.name} is not connected: ${why}`);
  }

  async resources(signal: AbortSignal): Promise<readonly ServerResource[]> {
    const client = await this.#connected(signal);
    const limit = startTimeLimit(signal, this.#options.callTimeoutMs);
    try {
      const listed = await waitOrAbort(
        listAllPages(client, 'resources', limit.signal),
        limit.signal,
      );
      return listed.flatMap((each) => parseResource(each) ?? []);
    } finally {
      limit.clear();
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#retry);
    const client = this.#client;
    this.#client = null;
    this.#state = { kind: 'closed', why: '' };
    await Promise.all([client?.close(), this.#opening]);
  }
}

const NO_LISTS = { tools: [], prompts: [] };
const REFRESH_PAUSE_MS = 100;

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Whoever tells how far it is has not been lost. */
function withProgress(
  limit: CallLimit,
  onProgress: ServerRequest['onProgress'],
): Pick<ServerRequest, 'onProgress'> {
  if (onProgress === undefined) return {};
  return {
    onProgress: (text) => {
      limit.restart();
      onProgress(text);
    },
  };
}
