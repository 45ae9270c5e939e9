import {
  type Bus,
  type ConsumedMessage,
  createSharedConsumer,
  type ErasedRecords,
  type EventStream,
  eventsKeptForMs,
  type SharedConsumer,
} from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import type { ExtensionHost } from '@recordbus/extension-host';
import type { Gate } from '@recordbus/limits/gate';
import { heartbeat } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { acceptTraceparent } from '@recordbus/process/telemetry';
import { listed } from '@recordbus/queue';
import { principalOfExtension, rootScope } from '../call-scope.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import type { AfterHook } from './after-hook.ts';

export interface HookConsumerDeps {
  readonly host: Pick<ExtensionHost, 'call'>;
  readonly toolbox: Toolbox;
  readonly bus: Bus;
  readonly stream: EventStream;
  readonly query: Query;
  readonly erased: Pick<ErasedRecords, 'isErased' | 'refresh'>;
  readonly log: Logger;
}

interface HookedExtension {
  readonly name: string;
  /** A new hook gets the events from this time on. */
  readonly loadedAt: Date;
  /** The gate for all the extension's after-hook calls. */
  readonly turns: Gate;
}

/** How many of one hook's events run or wait for the extension's gate. */
const width = 2;
const callTimeoutMs = 10_000;
/** A notice has said in time about a younger message's record that it was erased. */
const freshMs = 1000;
/** How often a message that waits or runs is reported as in progress. */
const workingMs = 5000;
/** After this time another process takes over a dead process's message. */
const ackWaitMs = 20_000;
/** The waits before the next attempts; the last one repeats. All attempts together take about three hours. */
const backoffMs = [1000, 5000, 30_000, 120_000, 600_000];
const maxAttempts = 24;

/**
 * Creates one after hook's consumer. It does nothing before `start`. Each hook has its own consumer: replicas with
 * older and newer extension code share the hooks that both have, and a new hook's events wait for a replica that has
 * it. `stop` waits for running calls; if calls then fail, their events go to another replica at once.
 */
export function createHookConsumer(
  deps: HookConsumerDeps,
  extension: HookedExtension,
  hook: AfterHook,
): SharedConsumer {
  const { bus, stream, log } = deps;
  const running = new Set<Promise<void>>();
  let isStopping = false;

  async function handle(message: ConsumedMessage): Promise<void> {
    const endWorking = heartbeat(workingMs, () => message.working());
    try {
      await extension.turns.run(async () => {
        if (isStopping) throw new Error('the service is stopping');
        await callHook(deps, extension, hook, message);
      });
      message.ack();
    } catch (error) {
      if (isStopping) message.retry();
      else retryLater(message, error, extension, log);
    } finally {
      endWorking();
    }
  }

  async function take(message: ConsumedMessage): Promise<void> {
    const work: Promise<void> = handle(message).finally(() => running.delete(work));
    running.add(work);
    if (running.size >= width) await Promise.race(running);
  }

  // A fetched message that is not handled yet is not reported as in progress, so only one is fetched at a time.
  const consumer = createSharedConsumer({
    bus,
    stream,
    consumer: consumerOf(extension, hook),
    maxMessages: 1,
    take,
    log,
  });

  return {
    start: consumer.start,
    async stop() {
      isStopping = true;
      await consumer.stop();
      await Promise.all(running);
    },
  };
}

const consumerOf = ({ loadedAt }: HookedExtension, { consumerName, subject }: AfterHook) => ({
  name: consumerName,
  subject,
  ackWaitMs,
  from: loadedAt,
  // By then the stream has dropped every event that the consumer has not read.
  unreadForMs: eventsKeptForMs,
});

/** Calls the hook with a message's event, unless it does not interest the hook. */
async function callHook(
  { host, toolbox, query, erased }: HookConsumerDeps,
  { name }: HookedExtension,
  hook: AfterHook,
  message: ConsumedMessage,
): Promise<void> {
  // An old message waited, or is repeated: its record may have been erased since the copy was read.
  if (Date.now() - message.time.getTime() > freshMs) await erased.refresh();
  if (erased.isErased(message)) return;
  const input = await hook.read(message, query);
  if (!input) return;
  const context = {
    requestId: input.requestId ?? input.id,
    traceparent: acceptTraceparent(message.header('traceparent')),
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

/** Returns a failed call's event to the stream for a later attempt, or drops it after the last one. */
function retryLater(message: ConsumedMessage, error: unknown, { name }: HookedExtension, log: Logger): void {
  const attempt = message.attempt;
  const facts = { extension: name, subject: message.subject, event_id: message.header('Nats-Msg-Id'), attempt };
  if (attempt >= maxAttempts) {
    log.error({ ...facts, err: error }, 'an after hook failed for the last time; its event is dropped');
    message.drop();
  } else {
    const delayMs = listed(attempt, backoffMs);
    log.warn({ ...facts, err: error, retryInMs: delayMs }, 'an after hook failed, will retry');
    message.retry(delayMs);
  }
}
