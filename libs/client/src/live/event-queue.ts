import { longestSilenceMs, type StreamEvent } from './stream.ts';

/** A connection's events that wait to be read. */
export interface EventQueue {
  push(event: StreamEvent): void;
  /** Notes that the connection is alive, which postpones its end by silence. */
  wake(): void;
  /** Marks the end: no event follows. */
  end(): void;
  /** Reads until the end. Calls `close` after a long silence, and when the reader stops. */
  read(close: () => void): AsyncGenerator<StreamEvent, void>;
}

export function createEventQueue(): EventQueue {
  const waiting: StreamEvent[] = [];
  let [isOpen, wake] = [true, () => {}];
  return {
    push: (event) => void waiting.push(event),
    wake: () => wake(),
    end() {
      isOpen = false;
      wake();
    },
    async *read(close) {
      try {
        for (;;) {
          const event = waiting.shift();
          if (event) yield event;
          else if (!isOpen) return;
          else {
            const timer = setTimeout(close, longestSilenceMs);
            await new Promise<void>((resolve) => {
              wake = resolve;
            }).finally(() => clearTimeout(timer));
          }
        }
      } finally {
        close();
      }
    },
  };
}
