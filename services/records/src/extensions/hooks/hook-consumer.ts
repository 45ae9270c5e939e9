import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import { ensureConsumer, ensureEventStream, subjectOf } from '@recordbus/bus';
import { type AfterPoint, type CallTarget, everyCollection, type LoadedExtension } from '@recordbus/extension-host';
import type { RecordEvent, SignIn } from '@recordbus/extensions';
import { signedInEvent } from '@recordbus/shared/sign-in-hooks';
import { acceptTraceparent } from '@recordbus/shared/telemetry';
import { principalOfExtension, rootScope } from '../call-scope.ts';
import type { EventHooksDeps } from './event-hooks.ts';
import { readRecordEvent, readSignIn } from './read-event.ts';

/** Reads the events that one extension has after hooks for. */
export interface HookConsumer {
  start(): void;
  stop(): Promise<void>;
}

/** How many events are handed to one extension at once; the other workers are for requests. */
const width = 2;
/** For each call; a message is told to be worked on this often. */
const callTimeoutMs = 10_000;
const workingMs = 5000;
/** What a process that died was at is taken up by another one after this. */
const ackWaitMs = 20_000;
/** Pauses before the next attempts, the last one again and again, and how many there are in all: about three hours. */
const pausesMs = [1000, 5000, 30_000, 120_000, 600_000];
const maxAttempts = 24;
const retryMs = 1000;

const points: readonly (readonly [AfterPoint, RecordEvent['operation']])[] = [
  ['afterCreate', 'create'],
  ['afterUpdate', 'update'],
  ['afterDelete', 'delete'],
];

/** Makes the consumer of an extension; it does nothing before `start`. */
export function createHookConsumer(deps: EventHooksDeps, extension: LoadedExtension): HookConsumer {
  const { host, toolbox, bus, stream, query, log } = deps;
  const { name, description } = extension;
  // What is written from here on is for its hooks, also while there is no bus to make the consumer at.
  const loadedAt = new Date();
  const ending = new AbortController();
  const underWay = new Set<Promise<void>>();
  let consuming: ConsumerMessages | undefined;
  let following = Promise.resolve();
  const pause = () => sleep(retryMs, undefined, { signal: ending.signal }).catch(() => {});

  /** No two subjects may cover the same, so those of all collections make those of each superfluous. */
  function subjects(): string[] {
    const isToldOfSignIns = description.signIn.some(({ point }) => point === 'after');
    const ofRecords = points.flatMap(([point, operation]) => {
      const collections = description.hooks.filter((hook) => hook.point === point).map(({ collection }) => collection);
      const named = collections.includes(everyCollection) ? [everyCollection] : collections;
      return named.map((collection) => `${stream.prefix}.${collection}.${operation}`);
    });
    return [...ofRecords, ...(isToldOfSignIns ? [subjectOf(signedInEvent, stream.prefix)] : [])];
  }

  async function call(event: RecordEvent, traceparent: string | undefined): Promise<void> {
    const [point] = points.find(([, operation]) => operation === event.operation) ?? [];
    for (const collection of [everyCollection, event.collection]) {
      if (!point || !description.hooks.some((hook) => hook.point === point && hook.collection === collection)) continue;
      await run({ kind: 'hook', collection, point }, event, event.requestId ?? event.id, traceparent);
    }
  }

  async function callSignIn(signIn: SignIn, traceparent: string | undefined): Promise<void> {
    for (const collection of [everyCollection, signIn.collection])
      if (description.signIn.some((hook) => hook.point === 'after' && hook.collection === collection))
        await run({ kind: 'signIn', collection, point: 'after' }, signIn, signIn.requestId, traceparent);
  }

  const run = (target: CallTarget, input: unknown, requestId: string, traceparent: string | undefined) => {
    const principal = principalOfExtension(name);
    const context = { requestId, traceparent: acceptTraceparent(traceparent), principal, clientAddress: '' };
    return host.call(name, {
      target,
      input,
      timeoutMs: callTimeoutMs,
      answer: toolbox(name, rootScope(context)),
    });
  };

  async function handle(message: JsMsg): Promise<void> {
    const working = setInterval(() => message.working(), workingMs);
    try {
      const traceparent = message.headers?.get('traceparent');
      const signIn = readSignIn(message);
      const event = signIn ? undefined : await readRecordEvent(message, query);
      if (signIn) await callSignIn(signIn, traceparent);
      if (event) await call(event, traceparent);
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
    if (ending.signal.aborted) message.nak();
    else if (attempt >= maxAttempts) {
      log.error({ ...facts, err: error }, 'an after hook was given up');
      message.term();
    } else {
      const delayMs = pausesMs[Math.min(attempt, pausesMs.length) - 1] ?? retryMs;
      log.warn({ ...facts, err: error, retryInMs: delayMs }, 'an after hook failed and is tried again');
      message.nak(delayMs);
    }
  }

  async function consume(): Promise<void> {
    await ensureEventStream(bus, stream);
    const durable = { name: `extension-${name}`, subjects: subjects(), ackWaitMs, from: loadedAt };
    const consumer = await ensureConsumer(bus, stream, durable);
    consuming = await consumer.consume({
      max_messages: width,
      expires: 10_000,
      idle_heartbeat: 5000,
      abort_on_missing_resource: true,
    });
    for await (const message of consuming) {
      const work: Promise<void> = handle(message).finally(() => underWay.delete(work));
      underWay.add(work);
      if (underWay.size >= width) await Promise.race(underWay);
    }
  }

  async function follow(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        if (bus.connected) await consume();
      } catch (error) {
        if (!ending.signal.aborted)
          log.warn({ extension: name, err: error }, 'events are not handed to hooks, trying on');
      }
      await pause();
    }
  }

  return {
    start() {
      following = follow();
    },
    async stop() {
      ending.abort();
      await consuming?.close();
      await following;
      await Promise.all(underWay);
    },
  };
}
