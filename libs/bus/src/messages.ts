import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '@recordbus/process/logging';
import type { Bus } from './bus.ts';

interface Messages extends Pick<Bus, 'publish' | 'subscribe'> {
  /** Subscribes on a new connection; the client keeps the subscription across reconnects. */
  subscribeOn(connection: NatsConnection): void;
}

const subjectPrefix = 'recordbus.live.';
const senderBytes = 16;

/**
 * Creates the messages between replicas, over core NATS. This process's handlers are called directly, so they get
 * messages even while the bus is down. The sender's id at the start of a message keeps them from running twice.
 */
export function createMessages(findConnection: () => NatsConnection | undefined, log: Logger): Messages {
  const self = crypto.getRandomValues(Buffer.alloc(senderBytes));
  const handlers = new Map<string, Set<(text: string) => void>>();

  function call(topic: string, text: string): void {
    for (const handler of handlers.get(topic) ?? []) {
      try {
        handler(text);
      } catch (error) {
        log.error({ err: error, topic }, 'a message handler failed');
      }
    }
  }

  function receive(topic: string, data: Uint8Array): void {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    if (bytes.length >= senderBytes && bytes.compare(self, 0, senderBytes, 0, senderBytes) !== 0)
      call(topic, bytes.toString('utf8', senderBytes));
  }

  let made: NatsConnection | undefined;
  function subscribeTo(topic: string): void {
    made?.subscribe(`${subjectPrefix}${topic}`, {
      callback: (error, { data }) => {
        if (error) log.error({ err: error, topic }, "cannot receive other replicas' messages");
        else receive(topic, data);
      },
    });
  }

  return {
    publish(topic, text) {
      call(topic, text);
      try {
        findConnection()?.publish(`${subjectPrefix}${topic}`, Buffer.concat([self, Buffer.from(text)]));
      } catch (error) {
        log.warn({ err: error, topic }, 'cannot send a message to other replicas');
      }
    },
    subscribe(topic, handler) {
      const ofTopic = handlers.get(topic) ?? new Set();
      // Only processes with a handler subscribe. Others would receive messages only to drop them.
      if (!handlers.has(topic)) {
        handlers.set(topic, ofTopic);
        subscribeTo(topic);
      }
      ofTopic.add(handler);
      return () => ofTopic.delete(handler);
    },
    subscribeOn(connection) {
      made = connection;
      for (const topic of handlers.keys()) subscribeTo(topic);
    },
  };
}
