import { messageOf } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import { limitTime } from '../base/time-limit.ts';
import { untilAborted } from '../base/until-aborted.ts';
import { limitCall } from './call-limit.ts';
import { byName, listAll } from './list-all.ts';
import {
  readPrompt,
  readResource,
  readTool,
  type ServerPrompt,
  type ServerResource,
  type ServerTool,
} from './listing.ts';
import {
  type ClientRequest,
  type ListKind,
  openClient,
  type OpenClient,
  type QuestionAnswer,
  type ServerQuestion,
} from './open-client.ts';
import { TransportFailure } from './wire/limits.ts';

export interface ConnectionOptions {
  readonly name: string;
  /** How the server is reached, looked up before each attempt; a string says why it must not be. */
  readonly prepare: () => Pick<ClientRequest, 'reached' | 'cwd' | 'env' | 'roots'> | string;
  readonly startTimeoutMs: number;
  readonly callTimeoutMs: number;
  /** Told what a person should know, in words. */
  readonly notice: (text: string) => void;
}

export type ConnectionState =
  | { readonly kind: 'connecting' | 'connected' | 'closed'; readonly why: '' }
  | { readonly kind: 'failed'; readonly why: string };

/** Whoever a server's questions go to while a call runs. */
export type Ask = (question: ServerQuestion, signal: AbortSignal) => Promise<QuestionAnswer>;

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
  readonly #asking: Ask[] = [];
  #state: ConnectionState = { kind: 'connecting', why: '' };
  #client: OpenClient | null = null;
  #opening: Promise<void> | null = null;
  #retry: NodeJS.Timeout | undefined;
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
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #connect(): Promise<void> {
    this.#state = { kind: 'connecting', why: '' };
    const prepared = this.#options.prepare();
    if (typeof prepared === 'string') return this.#fail(prepared);
    const { startTimeoutMs } = this.#options;
    const limit = limitTime(this.#closing.signal, startTimeoutMs);
    try {
      const client = await this.#shakeHands(prepared, limit.signal);
      this.#client = client;
      this.#state = { kind: 'connected', why: '' };
    } catch (error) {
      this.#fail(
        limit.isOver() ? `it did not answer within ${startTimeoutMs} ms` : messageOf(error),
      );
    } finally {
      limit.clear();
    }
  }

  async #shakeHands(
    prepared: Pick<ClientRequest, 'reached' | 'cwd' | 'env' | 'roots'>,
    signal: AbortSignal,
  ): Promise<OpenClient> {
    const opening = openClient({
      ...prepared,
      signal,
      ask: (question, asked) => this.#ask(question, asked),
      onListChange: (kind) => this.#refresh(kind),
      onLoss: (why) => this.#lose(why),
    });
    // One that answers too late must not go on running.
    const late = (): void => void opening.then((client) => client.close()).catch(() => undefined);
    const client = await untilAborted(opening, signal).catch((error: unknown) => {
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
    const [tools, prompts] = await Promise.all([
      listAll(client, 'tools', signal),
      listAll(client, 'prompts', signal).catch(() => []),
    ]);
    this.#take({ tools, prompts });
  }

  #take(given: { readonly tools: readonly unknown[]; readonly prompts: readonly unknown[] }): void {
    const tools = byName(given.tools.flatMap((each) => readTool(each) ?? []));
    const known = new Set(this.#lists.tools.map(({ note }) => note));
    for (const { note } of tools) if (note !== null && !known.has(note)) this.#tell(note);
    this.#lists = {
      tools,
      prompts: byName(given.prompts.flatMap((each) => readPrompt(each) ?? [])),
    };
  }

  #tell(text: string): void {
    this.#options.notice(`MCP server ${this.name}: ${text}`);
  }

  #fail(why: string): void {
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
      const limit = limitTime(this.#closing.signal, this.#options.startTimeoutMs);
      // What it had stays when it does not say what it has.
      await this.#list(this.#client, limit.signal).catch(() => undefined);
      limit.clear();
    }
    this.#isRefreshing = false;
  }

  /** Rejects with why there is no answer. */
  async request({ method, params, signal, onProgress, ask }: ServerRequest): Promise<unknown> {
    const client = await this.#connected(signal);
    const { callTimeoutMs } = this.#options;
    const limit = limitCall(signal, callTimeoutMs);
    const asked: Ask | null = ask === undefined ? null : limit.without(ask);
    if (asked !== null) this.#asking.push(asked);
    try {
      const answer = await untilAborted(
        client.request(method, params, {
          signal: limit.signal,
          ...(onProgress === undefined
            ? {}
            : {
                onProgress: (text) => {
                  limit.restart();
                  onProgress(text);
                },
              }),
        }),
        limit.signal,
      );
      this.#failures = 0;
      return answer;
    } catch (error) {
      if (limit.isOver()) throw new TransportFailure(`no answer within ${callTimeoutMs} ms`);
      if (!limit.signal.aborted && isUnreachable(error)) this.#lose(messageOf(error));
      throw this.#client === client || signal.aborted
        ? error
        : new TransportFailure(this.#lossWords());
    } finally {
      limit.clear();
      if (asked !== null) this.#asking.splice(this.#asking.indexOf(asked), 1);
    }
  }

  #lossWords(): string {
    return `the MCP server ${this.name} was lost while it worked: ${this.#state.why}`;
  }

  async #connected(signal: AbortSignal): Promise<OpenClient> {
    if (this.#client === null) await untilAborted(this.open(), signal);
    if (this.#client !== null) return this.#client;
    const why = this.#closing.signal.aborted ? 'it was closed' : this.#state.why;
    throw new TransportFailure(`the MCP server ${this.name} is not connected: ${why}`);
  }

  /** The question belongs to the call that was made last; without one nobody can answer it. */
  async #ask(question: ServerQuestion, signal: AbortSignal): Promise<QuestionAnswer> {
    const ask = this.#asking.at(-1);
    return ask === undefined ? { action: 'decline' } : ask(question, signal);
  }

  async resources(signal: AbortSignal): Promise<readonly ServerResource[]> {
    const client = await this.#connected(signal);
    const limit = limitTime(signal, this.#options.callTimeoutMs);
    try {
      const listed = await untilAborted(listAll(client, 'resources', limit.signal), limit.signal);
      return listed.flatMap((each) => readResource(each) ?? []);
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

/** The service behind an address is gone, or has forgotten this connection. */
function isUnreachable(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  return isRecord(error) && error['name'] === 'SdkHttpError';
}
