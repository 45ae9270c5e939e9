import type { JsMsg } from '@nats-io/jetstream';
import { type Bus, createEventReader, type EventReader, type EventStream, subjectOf } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import {
  type AfterPoint,
  type CallTarget,
  type ExtensionHost,
  everyCollection,
  type LoadedExtension,
} from '@recordbus/extension-host';
import type { RecordEvent, SignIn } from '@recordbus/extensions';
import type { Logger } from '@recordbus/shared/logging';
import { signedInEvent } from '@recordbus/shared/sign-in-hooks';
import { acceptTraceparent } from '@recordbus/shared/telemetry';
import { principalOfExtension, rootScope } from '../call-scope.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import { readRecordEvent, readSignIn } from './read-event.ts';

export interface HookConsumerDeps {
  readonly host: Pick<ExtensionHost, 'call'>;
  readonly toolbox: Toolbox;
  readonly bus: Bus;
  readonly stream: EventStream;
  readonly query: Query;
  readonly log: Logger;
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

const points: readonly (readonly [AfterPoint, RecordEvent['operation']])[] = [
  ['afterCreate', 'create'],
  ['afterUpdate', 'update'],
  ['afterDelete', 'delete'],
];

/**
 * Makes the consumer of the events that an extension has after hooks for. When it stops it lets the calls under way
 * end; what they fail at goes to another replica at once.
 */
export function createHookConsumer(deps: HookConsumerDeps, extension: LoadedExtension): EventReader {
  const { host, toolbox, bus, stream, query, log } = deps;
  const { name, description } = extension;
  // What is written from here on is for its hooks, also while there is no bus to make the consumer at.
  const loadedAt = new Date();
  const underWay = new Set<Promise<void>>();
  let isStopping = false;

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
    consumer: { name: `extension-${name}`, subjects: subjects(), ackWaitMs, from: loadedAt },
    maxMessages: width,
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
