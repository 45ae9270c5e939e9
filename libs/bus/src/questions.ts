import {
  type NatsConnection,
  NoRespondersError,
  RequestError,
  type Subscription,
  TimeoutError,
} from '@nats-io/transport-node';
import { payloadTooLarge, unavailable } from '@recordbus/errors';
import type { Logger } from '@recordbus/process/logging';
import type { Bus } from './bus.ts';

interface Questions extends Pick<Bus, 'ask' | 'answerAt'> {
  /** Subscribes on a new connection; the client keeps the subscription across reconnects. */
  subscribeOn(connection: NatsConnection): void;
}

/** One token follows it, so that `recordbus.live.*` in a server's permissions covers questions and answers. */
const subjectPrefix = 'recordbus.live.';
const answerTimeoutMs = 3000;

const encode = (text: string): Uint8Array => Buffer.from(text);

/**
 * Creates the questions between processes, over core NATS. The server itself says that nobody serves a place, so a
 * question to a process that is gone costs one round trip.
 */
export function createQuestions(live: () => NatsConnection, log: Logger): Questions {
  const answers = new Map<string, (text: string) => Promise<string>>();
  const subscriptions = new Map<string, Subscription>();
  let made: NatsConnection | undefined;

  function serve(place: string): void {
    const subscription = made?.subscribe(`${subjectPrefix}${place}`, {
      callback(error, message) {
        if (error) log.error({ err: error, place }, "cannot receive other replicas' questions");
        else
          answers
            .get(place)?.(message.string())
            .then((text) => message.respond(encode(text)))
            .catch((thrown: unknown) => log.error({ err: thrown, place }, "cannot answer another replica's question"));
      },
    });
    if (subscription) subscriptions.set(place, subscription);
  }

  return {
    async ask(place, text) {
      const connection = live();
      const payload = encode(text);
      const limitBytes = connection.info?.max_payload;
      if (limitBytes !== undefined && payload.length > limitBytes) throw payloadTooLarge(limitBytes, 'the question');
      const reply = `${subjectPrefix}answer-${crypto.randomUUID()}`;
      try {
        const message = await connection.request(`${subjectPrefix}${place}`, payload, {
          timeout: answerTimeoutMs,
          noMux: true,
          reply,
        });
        return message.string();
      } catch (error) {
        if (error instanceof NoRespondersError || (error instanceof RequestError && error.isNoResponders()))
          return undefined;
        if (error instanceof TimeoutError) throw unavailable('another replica does not answer');
        throw unavailable('the bus does not answer');
      }
    },
    answerAt(place, answer) {
      answers.set(place, answer);
      serve(place);
      return () => {
        answers.delete(place);
        subscriptions.get(place)?.unsubscribe();
        subscriptions.delete(place);
      };
    },
    subscribeOn(connection) {
      made = connection;
      for (const place of answers.keys()) serve(place);
    },
  };
}
