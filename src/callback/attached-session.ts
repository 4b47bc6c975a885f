import type { IncomingMessage } from 'node:http';
import { getErrorMessage, HooklineError } from '../base/errors.ts';
import { isRecord, parseJson } from '../base/json.ts';
import {
  CALLBACK_VARIABLE,
  type CallbackAddress,
  type HookCallName,
  isReadingCall,
  parseCallbackAddress,
} from './callback-address.ts';

const TIMEOUT_MS = 30_000;

/** The session that runs a hook, as that hook's program sees it. */
export class AttachedSession {
  readonly #address: CallbackAddress;

  private constructor(address: CallbackAddress) {
    this.#address = address;
  }

  /** Takes the address from a hook's environment. Throws outside of a hook. */
  static fromEnvironment(env: Readonly<Record<string, string | undefined>>): AttachedSession {
    const address = parseCallbackAddress(env[CALLBACK_VARIABLE] ?? '');
    if (address !== null) return new AttachedSession(address);
    throw new HooklineError('SESSION_UNREACHABLE', {
      message: `expected the address of a session in ${CALLBACK_VARIABLE}, found ${env[CALLBACK_VARIABLE] === undefined ? 'no such variable' : 'something else'}`,
      hint: 'Call it from the program of a trusted hook while its session runs; hooks in a sandbox cannot.',
    });
  }

  /**
   * Adds a prompt that runs once the run under way has ended; an idle session starts with it. False when the
   * session is ending, so that it will not run.
   */
  async send(prompt: string): Promise<boolean> {
    return (await this.#call('send', prompt))['queued'] === true;
  }

  /** Sends a message to the agent while it works; false when it does not. */
  async steer(text: string): Promise<boolean> {
    return (await this.#call('steer', text))['steered'] === true;
  }

  /** Ends the run under way; false when there is none. */
  async abort(reason = ''): Promise<boolean> {
    return (await this.#call('abort', reason))['aborted'] === true;
  }

  /** What the session is like now: `sessionId`, `isRunning`, model, mode, tokens. */
  async state(): Promise<Readonly<Record<string, unknown>>> {
    return this.#call('state', null);
  }

  async messages(): Promise<readonly unknown[]> {
    const { messages } = await this.#call('messages', null);
    return isList(messages) ? messages : [];
  }

  async #call(call: HookCallName, text: string | null): Promise<Readonly<Record<string, unknown>>> {
    const { status, body } = await this.#request(call, text).catch((error: unknown) => {
      throw createUnreachableError(getErrorMessage(error));
    });
    const parsed = parseJson(body);
    const answer = parsed.ok && isRecord(parsed.value) ? parsed.value : {};
    if (status === 200) return answer;
    const why = typeof answer['error'] === 'string' ? answer['error'] : body;
    throw createUnreachableError(`it answered ${status}: ${why}`);
  }

  async #request(
    call: HookCallName,
    text: string | null,
  ): Promise<{ readonly status: number; readonly body: string }> {
    const { request } = await import('node:http');
    const { socket, token } = this.#address;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request({
        socketPath: socket,
        path: `/${call}`,
        method: isReadingCall(call) ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
        timeout: TIMEOUT_MS,
      });
      sent.on('response', resolve);
      sent.on('error', reject);
      sent.on('timeout', () => sent.destroy(createUnreachableError('it did not answer')));
      sent.end(text ?? '');
    });
    const chunks: Buffer[] = [];
    for await (const chunk of response) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') };
  }
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function createUnreachableError(message: string): HooklineError {
  return new HooklineError('SESSION_UNREACHABLE', {
    message: `the session of this hook cannot be reached: ${message}`,
    hint: 'A session answers its hooks until it has ended; what came too late was not done.',
  });
}
