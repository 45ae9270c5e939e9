import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '@recordbus/process/logging';
import type { Bus, NoticeTopic } from './bus.ts';
import { coalesce } from './coalesce.ts';

interface Notices extends Pick<Bus, 'notify' | 'onNotice'> {
  /** Subscribes on a new connection; the client keeps the subscription across reconnects. */
  subscribe(connection: NatsConnection): void;
  /** Calls every handler once. */
  wakeAll(): void;
}

const subjectPrefix = 'recordbus.notice.';
const intervalMs = 5;

/** Topics whose handlers in this process never wait: the caller's next request must see the change. */
const promptTopics: ReadonlySet<NoticeTopic> = new Set(['accounts']);

/**
 * Creates the notices between replicas, over core NATS. This process's handlers are called directly, so services in one
 * process reach each other even while the bus is down. The sender's id in the message keeps them from running twice.
 */
export function createNotices(findConnection: () => NatsConnection | undefined, log: Logger): Notices {
  const self = crypto.randomUUID();
  const handlers = new Map<string, Set<() => void>>();
  const senders = new Map<NoticeTopic, () => void>();

  function call(topic: string): void {
    for (const handler of handlers.get(topic) ?? []) {
      try {
        handler();
      } catch (error) {
        log.error({ err: error, topic }, 'a notice handler failed');
      }
    }
  }

  const createSender = (topic: NoticeTopic) =>
    coalesce(() => {
      if (!promptTopics.has(topic)) call(topic);
      try {
        findConnection()?.publish(`${subjectPrefix}${topic}`, self);
      } catch (error) {
        log.debug({ err: error, topic }, 'cannot publish a notice');
      }
    }, intervalMs);

  return {
    notify(topic) {
      if (promptTopics.has(topic)) call(topic);
      const send = senders.get(topic) ?? createSender(topic);
      senders.set(topic, send);
      send();
    },
    onNotice(topic, handler) {
      const ofTopic = handlers.get(topic) ?? new Set();
      handlers.set(topic, ofTopic.add(handler));
      return () => ofTopic.delete(handler);
    },
    subscribe(connection) {
      connection.subscribe(`${subjectPrefix}*`, {
        callback: (error, message) => {
          if (error) log.error({ err: error }, "cannot receive other replicas' notices");
          else if (message.string() !== self) call(message.subject.slice(subjectPrefix.length));
        },
      });
    },
    wakeAll() {
      for (const topic of handlers.keys()) call(topic);
    },
  };
}
