import type { JsMsg } from '@nats-io/jetstream';
import { type Bus, createEventReader, type EventReader, type EventStream, eventsKeptForMs } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import type { ExtensionHost } from '@recordbus/extension-host';
import type { Gate } from '@recordbus/shared/gate';
import type { Logger } from '@recordbus/shared/logging';
import { acceptTraceparent } from '@recordbus/shared/telemetry';
import { principalOfExtension, rootScope } from '../call-scope.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import type { AfterHook } from './after-hook.ts';

export interface HookConsumerDeps {
  readonly host: Pick<ExtensionHost, 'call'>;
  readonly toolbox: Toolbox;
  readonly bus: Bus;
  readonly stream: EventStream;
  readonly query: Query;
  readonly log: Logger;
}

interface HookedExtension {
  readonly name: string;
  /** What is written from here on is for a new hook. */
  readonly loadedAt: Date;
  /** What the calls of all hooks of the extension pass. */
  readonly turns: Gate;
}

/** Events of one hook that are under way, or wait for the turn of the extension. */
const width = 2;
const callTimeoutMs = 10_000;
/** A message that waits or is worked on says so this often. */
const workingMs = 5000;
/** What a process that died was at is taken up by another one after this. */
const ackWaitMs = 20_000;
/** Pauses before the next attempts, the last one again and again, and how many there are in all: about three hours. */
const pausesMs = [1000, 5000, 30_000, 120_000, 600_000];
const maxAttempts = 24;

/**
 * Makes the consumer of one after hook; it does nothing before `start`. Each hook has its own, so that replicas with
 * older and newer code of the extension share what both know, and what only the newer one knows waits for it: no
 * replica is handed an event that it has no hook for. When it stops it lets the calls under way end; what they fail at
 * goes to another replica at once.
 */
export function createHookConsumer(deps: HookConsumerDeps, extension: HookedExtension, hook: AfterHook): EventReader {
  const { host, toolbox, bus, stream, query, log } = deps;
  const { name, loadedAt, turns } = extension;
  const underWay = new Set<Promise<void>>();
  let isStopping = false;

  async function call(message: JsMsg): Promise<void> {
    if (isStopping) throw new Error('the service stops');
    const input = await hook.read(message, query);
    if (!input) return;
    const context = {
      requestId: input.requestId ?? input.id,
      traceparent: acceptTraceparent(message.headers?.get('traceparent')),
      principal: principalOfExtension(name),
      clientAddress: '',
    };
    await host.call(name, {
      target: hook.target,
      input,
      timeoutMs: callTimeoutMs,
      answer: toolbox(name, rootScope(context)),
    });
  }

  async function handle(message: JsMsg): Promise<void> {
    const working = setInterval(() => message.working(), workingMs);
    try {
      await turns.run(() => call(message));
      message.ack();
    } catch (error) {
      giveBack(message, error);
    } finally {
      clearInterval(working);
    }
  }

  function giveBack(message: JsMsg, error: unknown): void {
    const attempt = message.info.deliveryCount;
    const facts = { extension: name, subject: message.subject, event_id: message.headers?.get('Nats-Msg-Id'), attempt };
    if (isStopping) message.nak();
    else if (attempt >= maxAttempts) {
      log.error({ ...facts, err: error }, 'an after hook was given up');
      message.term();
    } else {
      const delayMs = pausesMs[Math.min(attempt, pausesMs.length) - 1];
      log.warn({ ...facts, err: error, retryInMs: delayMs }, 'an after hook failed and is tried again');
      message.nak(delayMs);
    }
  }

  async function take(message: JsMsg): Promise<void> {
    const work: Promise<void> = handle(message).finally(() => underWay.delete(work));
    underWay.add(work);
    if (underWay.size >= width) await Promise.race(underWay);
  }

  const reader = createEventReader({
    bus,
    stream,
    consumer: {
      name: hook.consumerName,
      subject: hook.subject,
      ackWaitMs,
      from: loadedAt,
      // By then the stream has dropped whatever it could still be told of.
      unreadForMs: eventsKeptForMs,
    },
    // Nobody says of a message that is not taken yet that it is worked on, so none waits for that.
    maxMessages: 1,
    take,
    log,
  });

  return {
    start: reader.start,
    async stop() {
      isStopping = true;
      await reader.stop();
      await Promise.all(underWay);
    },
  };
}
