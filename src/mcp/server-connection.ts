import { startTimeLimit, waitOrAbort } from '../base/abort.ts';
import { CallLimit, type Ask, PendingCalls } from './pending-calls.ts';
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

export interface ConnectionOptions {
  readonly name: string;
  /** Resolves the endpoint before each attempt; a string is the reason why it must not be used. */
  readonly prepare: () => Pick<ClientOptions, 'endpoint' | 'cwd' | 'env' | 'roots'> | string;
  readonly startTimeoutMs: number;
  readonly callTimeoutMs: number;
  /** Called with messages for the user. */
  readonly notice: (text: string) => void;
}

export type ConnectionState =
  | { readonly kind: 'connecting' | 'connected' | 'closed'; readonly why: '' }
  | { readonly kind: 'failed'; readonly why: string };

const RETRY_AFTER_MS = [1000, 2000, 5000, 10_000, 30_000] as const;

/** The connection to one server: opened in the background, reopened after a loss, or by the next request. */
export class ServerConnection {
  readonly name: string;
  readonly #options: ConnectionOptions;
  readonly #closing = new AbortController();
  readonly #pending: PendingCalls;
  #state: ConnectionState = { kind: 'connecting', why: '' };
  #client: OpenClient | null = null;
  #opening: Promise<void> | null = null;
  #retry: NodeJS.Timeout | undefined;
  #isWaiting = false;
  /** Since the last answer. */
  #failures = 0;
  #lists: { tools: readonly ServerTool[]; prompts: readonly ServerPrompt[] } = EMPTY_LISTS;
  #isRefreshing = false;
  readonly #stale = new Set<ListKind>();

  constructor(options: ConnectionOptions) {
    this.name = options.name;
    this.#options = options;
    this.#pending = new PendingCalls(options.name, (text) => this.#notify(text));
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** The last listed ones, also while disconnected: a call reconnects. */
  get tools(): readonly ServerTool[] {
    return this.#lists.tools;
  }

  get prompts(): readonly ServerPrompt[] {
    return this.#lists.prompts;
  }

  get hasResources(): boolean {
    return this.#client?.has('resources') === true;
  }

  /** Connects unless it is connected; resolves when it is or has failed. Never rejects. */
  open(): Promise<void> {
    if (this.#client !== null || this.#closing.signal.aborted) return Promise.resolve();
    clearTimeout(this.#retry);
    this.#isWaiting = false;
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  /** Connects as well, unless a retry is scheduled. */
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
      const client = await this.#handshake(prepared, limit.signal);
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

  async #handshake(
    prepared: Pick<ClientOptions, 'endpoint' | 'cwd' | 'env' | 'roots'>,
    signal: AbortSignal,
  ): Promise<OpenClient> {
    const opening = openClient({
      ...prepared,
      signal,
      ask: (question, own, askSignal) => this.#pending.ask(question, own, askSignal),
      onListChange: (kind) => this.#refresh(kind),
      onLoss: (why) => this.#handleLoss(why),
    });
    // A server that answers too late must not keep running.
    const closeLate = (): void =>
      void opening.then((client) => client.close()).catch(() => undefined);
    const client = await waitOrAbort(opening, signal).catch((error: unknown) => {
      closeLate();
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
    const knownNotes = new Set(this.#lists.tools.map(({ note }) => note));
    for (const { note } of tools) if (note !== null && !knownNotes.has(note)) this.#notify(note);
    this.#lists = {
      tools,
      prompts: dedupeByName(prompts.flatMap((each) => parsePrompt(each) ?? [])),
    };
  }

  #notify(text: string): void {
    this.#options.notice(`MCP server ${this.name}: ${text}`);
  }

  #fail(why: string): void {
    // After `close` a failure is expected.
    if (this.#closing.signal.aborted) return;
    this.#state = { kind: 'failed', why };
    this.#scheduleRetry();
  }

  #handleLoss(why: string): void {
    if (this.#closing.signal.aborted || this.#client === null) return;
    const lostClient = this.#client;
    this.#client = null;
    void lostClient.close();
    this.#notify(`lost: ${why}`);
    this.#fail(why);
  }

  /** Retries with growing delays, and after the last one only when a request needs it. */
  #scheduleRetry(): void {
    const delayMs = RETRY_AFTER_MS[this.#failures];
    this.#failures += 1;
    if (delayMs === undefined || this.#closing.signal.aborted) return;
    this.#isWaiting = true;
    this.#retry = setTimeout(() => void this.open(), delayMs);
    this.#retry.unref();
  }

  /** Debounced: one request at a time, however often a server reports changes. */
  #refresh(kind: ListKind): void {
    this.#stale.add(kind);
    if (!this.#isRefreshing) void this.#refreshStale();
  }

  async #refreshStale(): Promise<void> {
    this.#isRefreshing = true;
    while (this.#stale.size > 0 && this.#client !== null) {
      await sleep(REFRESH_PAUSE_MS);
      this.#stale.clear();
      const limit = startTimeLimit(this.#closing.signal, this.#options.startTimeoutMs);
      // The old lists stay when listing fails.
      await this.#list(this.#client, limit.signal).catch(() => undefined);
      limit.clear();
    }
    this.#isRefreshing = false;
  }

  /** Rejects with the reason when there is no answer. */
  async request({
    method,
    params,
    signal,
    onProgress,
    ask,
  }: {
    readonly method: string;
    readonly params: Readonly<Record<string, unknown>>;
    readonly signal: AbortSignal;
    readonly onProgress?: (text: string) => void;
    readonly ask?: Ask;
  }): Promise<unknown> {
    const client = await this.#getClient(signal);
    const { callTimeoutMs } = this.#options;
    const limit = new CallLimit(signal, callTimeoutMs);
    const call = { limit, ask: ask ?? null };
    this.#pending.add(call);
    try {
      const options = { signal: limit.signal, call, ...restartOnProgress(limit, onProgress) };
      const answer = await waitOrAbort(client.request(method, params, options), limit.signal);
      this.#failures = 0;
      return answer;
    } catch (error) {
      if (limit.hasExpired()) throw new TransportFailure(`no answer within ${callTimeoutMs} ms`);
      if (!limit.signal.aborted && isUnreachable(error)) this.#handleLoss(describeFailure(error));
      throw this.#client === client || signal.aborted
        ? error
        : new TransportFailure(this.#describeLoss());
    } finally {
      limit.clear();
      this.#pending.remove(call);
    }
  }

  #describeLoss(): string {
    return `the MCP server ${this.name} was lost while it worked: ${this.#state.why}`;
  }

  async #getClient(signal: AbortSignal): Promise<OpenClient> {
    if (this.#client === null) await waitOrAbort(this.open(), signal);
    if (this.#client !== null) return this.#client;
    const why = this.#closing.signal.aborted ? 'it was closed' : this.#state.why;
    throw new TransportFailure(`the MCP server ${this.name} is not connected: ${why}`);
  }

  async resources(signal: AbortSignal): Promise<readonly ServerResource[]> {
    const client = await this.#getClient(signal);
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

const EMPTY_LISTS = { tools: [], prompts: [] };
const REFRESH_PAUSE_MS = 100;

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Progress restarts the time limit, because the server is alive. */
function restartOnProgress(limit: CallLimit, onProgress: ((text: string) => void) | undefined) {
  if (onProgress === undefined) return {};
  return {
    onProgress: (text: string) => {
      limit.restart();
      onProgress(text);
    },
  };
}
