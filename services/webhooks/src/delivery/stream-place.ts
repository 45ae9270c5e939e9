import { type Bus, type EventStream, findEventStream, getConsumer, webhooksConsumer } from '@recordbus/bus';

/** How far the fan-out has come. Deliveries of later events may still be added, in any order. */
export interface StreamPlace {
  /** The stream's life. All that came before it is done. */
  readonly life: number;
  /** In this life, every event up to this number has its deliveries. */
  readonly sequence: number;
}

/** Reads the fan-out's place, at most every 20 ms. */
export interface StreamPlaces {
  /** Returns the stream's life. Throws without a stream. */
  readLife(): Promise<number>;
  /** Returns the place; undefined before the first answer. Without an answer it is the former one: it only grows. */
  read(): Promise<StreamPlace | undefined>;
  /** Has the next `read` ask again: the fan-out has just finished a batch. */
  forget(): void;
}

const keptMs = 20;

/** Creates the reader. It sends nothing before it is asked. */
export function createStreamPlaces(bus: Bus, stream: EventStream): StreamPlaces {
  let last: StreamPlace | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;

  async function readLife(): Promise<number> {
    const state = await findEventStream(bus, stream);
    if (!state) throw new Error(`there is no stream ${stream.name}`);
    return state.life;
  }

  return {
    readLife,
    async read() {
      if (performance.now() - readAtMs < keptMs) return last;
      readAtMs = performance.now();
      try {
        // In this order: the number of a new life would be too high for the former one.
        const life = await readLife();
        const { readUpTo } = await getConsumer(bus, stream, webhooksConsumer);
        last = { life, sequence: readUpTo };
      } catch {
        // The bus is down, or the consumer is missing. What was done stays done.
      }
      return last;
    },
    forget() {
      readAtMs = Number.NEGATIVE_INFINITY;
    },
  };
}
