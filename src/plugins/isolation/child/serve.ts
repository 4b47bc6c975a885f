import { BugError } from '../../../base/errors.ts';
import { serializeValue, deserializeValue } from '../wire/serialize.ts';
import { type FromChild, isToChild, type Order, type ToChild } from '../wire/protocol.ts';
import { type RegisteredHere, HostedPlugin, type LoadHere } from './hosted-plugin.ts';
import { HostPorts } from './host-ports.ts';
import { Worker } from 'node:worker_threads';

/**
 * Serves one plugin to the host that started this process, until the host ends it or is gone; then `exit`
 * ends the process. `registeredHere` gives what the plugin registered beside its api, through its imports.
 */
export function servePlugin(
  load: LoadHere,
  registeredHere: () => Promise<RegisteredHere>,
  exit: () => void,
): void {
  const send = detachChannel();
  watchParent();
  reportUncaught(send);
  const ports = new HostPorts(send);
  const hosted = new HostedPlugin(load, ports, registeredHere);
  const serving = createServing(hosted, send);
  process.on('message', (message) => {
    if (!isToChild(message)) return;
    if (message.kind === 'reply') ports.settle(message.id, message.ok, message.value);
    else serving(message);
  });
  // The host has closed the channel or has exited.
  process.once('disconnect', () => exitSoon(exit));
  send({ kind: 'ready' });
}

type Send = (message: FromChild) => void;

/** Removes the channel from `process`, so that only this module sends messages to the host. */
function detachChannel(): Send {
  const post = process.send?.bind(process);
  if (post === undefined) throw new BugError('this program is started by Hookline, with a channel');
  Reflect.deleteProperty(process, 'send');
  // The `disconnect` event reports that the host is gone.
  return (message) => void post(message, undefined, {}, () => undefined);
}

/** Kills the descendants of this process as well. */
function exitSoon(exit: () => void): void {
  if (process.platform !== 'win32') {
    process.on('exit', () => process.kill(-process.pid, 'SIGKILL'));
  }
  exit();
}

function reportUncaught(send: Send): void {
  const report = (error: unknown): void => send({ kind: 'uncaught', error: serializeValue(error) });
  process.on('uncaughtException', report);
  process.on('unhandledRejection', report);
}

function createServing(
  hosted: HostedPlugin,
  send: Send,
): (message: Exclude<ToChild, { kind: 'reply' }>) => void {
  const running = new Map<number, AbortController>();
  return (message) => {
    switch (message.kind) {
      case 'call':
        void answer(message.id, message.order);
        return;
      case 'abort':
        running.get(message.id)?.abort(deserializeValue(message.reason));
        return;
      case 'ping':
        send({ kind: 'pong', id: message.id });
        return;
      case 'events':
        for (const each of message.events) notify(() => hosted.notifyListener(each));
        send({ kind: 'delivered' });
    }
  };

  async function answer(id: number, order: Order): Promise<void> {
    const controller = new AbortController();
    const reason = findAbortReason(order);
    if (reason !== null) controller.abort(deserializeValue(reason));
    running.set(id, controller);
    const onUpdate = (update: unknown): void =>
      send({ kind: 'update', id, update: serializeValue(update) });
    try {
      const { signal } = controller;
      const answered = await hosted.run(order, signal, onUpdate);
      send({ kind: 'answer', id, ...answered });
    } catch (error) {
      send({ kind: 'answer', id, ok: false, value: serializeValue(error) });
    } finally {
      running.delete(id);
    }
  }

  function notify(listen: () => unknown): void {
    const fail = (error: unknown): void =>
      send({ kind: 'event-failed', error: serializeValue(error) });
    try {
      const result = listen();
      if (result instanceof Promise) result.catch(fail);
    } catch (error) {
      fail(error);
    }
  }
}

function findAbortReason(order: Order) {
  if (order.type !== 'tool' && order.type !== 'hook') return null;
  const { signal, request } = order.context;
  return (signal ?? request?.signal)?.reason ?? null;
}

/** How often the host process is checked. */
const EVERY_MS = 1000;

// Plain JavaScript, because the worker is started from a text: a bundle has no file for it.
const WATCH = `
const { parent, everyMs, ownGroup } = require('node:worker_threads').workerData;
const isGone = () => {
  if (process.ppid !== parent) return true;
  try { process.kill(parent, 0); return false; } catch (error) { return error.code === 'ESRCH'; }
};
setInterval(() => {
  if (isGone()) process.kill(ownGroup ? -process.pid : process.pid, 'SIGKILL');
}, everyMs);
`;

/**
 * Ends this process and its descendants soon after the host is gone, also while the plugin's code is in an
 * endless loop: a worker thread checks the host.
 */
function watchParent(): void {
  const worker = new Worker(WATCH, {
    eval: true,
    workerData: { parent: process.ppid, everyMs: EVERY_MS, ownGroup: process.platform !== 'win32' },
    // The worker must not inherit flags and loaders of the plugin.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2 },
  });
  worker.on('error', () => undefined);
  worker.unref();
}
