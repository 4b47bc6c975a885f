import type { Socket } from 'node:net';

/** Below the usual limit of open files of a process, which is 1024. */
const MOST_CONNECTIONS = 512;

/**
 * The open connections. When there are too many, the one that has been waiting longest for a request is closed: a client
 * that connects now can always send its event, however many others do nothing.
 */
export class Connections {
  /** Those that wait for a request or send one, in the order in which they began to. */
  readonly #waiting = new Set<Socket>();
  readonly #busy = new Set<Socket>();

  add(socket: Socket): void {
    socket.on('close', () => {
      this.#waiting.delete(socket);
      this.#busy.delete(socket);
    });
    socket.on('error', () => socket.destroy());
    this.#waiting.add(socket);
    if (this.#waiting.size + this.#busy.size <= MOST_CONNECTIONS) return;
    const [oldest] = this.#waiting;
    oldest?.destroy();
  }

  /** A request of this connection is there whole: its answer is not cut off. */
  markBusy(socket: Socket): void {
    this.#waiting.delete(socket);
    this.#busy.add(socket);
  }

  markWaiting(socket: Socket): void {
    if (!this.#busy.delete(socket) || socket.destroyed) return;
    this.#waiting.add(socket);
  }

  get busyCount(): number {
    return this.#busy.size;
  }

  /** Closes those that wait for a request. */
  closeWaiting(): void {
    for (const socket of this.#waiting) socket.destroy();
  }

  closeAll(): void {
    this.closeWaiting();
    for (const socket of this.#busy) socket.destroy();
  }
}
