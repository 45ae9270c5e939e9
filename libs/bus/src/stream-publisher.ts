import { JetStreamApiError } from '@nats-io/jetstream';
import { createInbox, errors, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';

/** The stream's answer to a message. */
export interface Stored {
  /** The message's sequence number in the stream. */
  readonly seq: number;
  /** Whether the stream had a message with the same id already, and dropped this one. */
  readonly duplicate: boolean;
}

/** Publishes messages that a stream acknowledges. */
export interface StreamPublisher {
  /** Subscribes to the answers on a new connection; the client keeps the subscription across reconnects. */
  subscribeOn(connection: NatsConnection): void;
  /**
   * Publishes a message, and waits until the stream has stored it. Throws JetStreamApiError when the stream refuses it,
   * NoRespondersError when no stream has the subject, and TimeoutError without an answer within 5 s.
   */
  publish(subject: string, body: Uint8Array | string, headers: MsgHdrs): Promise<Stored>;
}

interface Waiting {
  readonly subject: string;
  readonly sinceMs: number;
  readonly resolve: (stored: Stored) => void;
  readonly reject: (error: Error) => void;
}

const answerTimeoutMs = 5000;
const checkEveryMs = 500;

/**
 * Creates the publisher. For each message, the client's own `publish` makes a timer, a promise race and an error. This
 * one has a list of waiting messages, and one timer for all.
 */
export function createStreamPublisher(live: () => NatsConnection): StreamPublisher {
  let inbox = '';
  let waiting = new Map<string, Waiting>();
  let published = 0;
  let isWatched = false;

  function take(token: string): Waiting | undefined {
    const found = waiting.get(token);
    waiting.delete(token);
    return found;
  }

  /** The messages wait in the order in which they were published, so the first ones time out first. */
  function rejectLate(): void {
    isWatched = false;
    const lateMs = performance.now() - answerTimeoutMs;
    for (const [token, { sinceMs, reject }] of waiting) {
      if (sinceMs > lateMs) break;
      waiting.delete(token);
      reject(new errors.TimeoutError());
    }
    if (waiting.size > 0) watch();
  }

  function watch(): void {
    if (isWatched) return;
    isWatched = true;
    setTimeout(rejectLate, checkEveryMs).unref();
  }

  function receive(message: Msg): void {
    const found = take(message.subject.slice(inbox.length));
    if (!found) return;
    try {
      found.resolve(readAnswer(message, found.subject));
    } catch (error) {
      found.reject(error as Error);
    }
  }

  return {
    subscribeOn(connection) {
      inbox = `${createInbox()}.`;
      const ofConnection = new Map<string, Waiting>();
      waiting = ofConnection;
      connection.subscribe(`${inbox}*`, {
        callback: (error, message) => {
          if (!error) receive(message);
        },
      });
      void connection.closed().then(() => {
        for (const { reject } of ofConnection.values()) reject(new errors.ClosedConnectionError());
        ofConnection.clear();
      });
    },
    publish(subject, body, headers) {
      return new Promise((resolve, reject) => {
        published += 1;
        const token = published.toString(36);
        live().publish(subject, body, { headers, reply: inbox + token });
        waiting.set(token, { subject, sinceMs: performance.now(), resolve, reject });
        watch();
      });
    },
  };
}

interface Answer extends Partial<Stored> {
  readonly error?: ConstructorParameters<typeof JetStreamApiError>[0];
}

/** Reads a stream's acknowledgement (NATS documentation, "JetStream API", PubAck). */
function readAnswer(message: Msg, subject: string): Stored {
  // The server answers so when nobody subscribes to a subject.
  if (message.data.length === 0 && message.headers?.code === 503) throw new errors.NoRespondersError(subject);
  const { error, seq, duplicate = false } = message.json<Answer>();
  if (error) throw new JetStreamApiError(error);
  if (seq === undefined) throw new Error("the stream's answer has no sequence number");
  return { seq, duplicate };
}
