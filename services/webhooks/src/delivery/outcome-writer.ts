import type { Query } from '@recordbus/database';
import { skipped, whenWoken } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { isOrdered, recordOrderedOutcomes } from './record-ordered-outcomes.ts';
import { type AttemptOutcome, recordOutcomes } from './record-outcomes.ts';

/** Collects outcomes and writes them in batches. Nothing else speeds up a queue in PostgreSQL as much. */
interface OutcomeWriter {
  /** Outcomes of one request are written together. */
  add(outcomes: readonly AttemptOutcome[]): void;
  /** Resolves when all added outcomes are written. */
  stop(): Promise<void>;
}

interface OutcomeWriterOptions {
  readonly query: Query;
  readonly log: Logger;
  /** Called after each write with its outcomes and the ones that counted. */
  readonly onWritten: (outcomes: readonly AttemptOutcome[], counted: readonly AttemptOutcome[]) => void;
}

/** How long a batch waits for more outcomes after its first, in milliseconds. */
const batchDelayMs = 10;
const batchSize = 200;
const retryMs = 500;

/** Creates the writer. While the database does not answer, it keeps the outcomes and retries. */
export function createOutcomeWriter({ query, log, onWritten }: OutcomeWriterOptions): OutcomeWriter {
  let waiting: (readonly AttemptOutcome[])[] = [];
  /** Resolves when no outcome is waiting. */
  let written = Promise.withResolvers<void>();
  const writing = whenWoken({
    name: 'write the delivery outcomes',
    log,
    fields: () => ({ requests: waiting.length }),
    soonMs: batchDelayMs,
    retryMs,
    run: write,
  });

  async function write(): Promise<typeof skipped | undefined> {
    if (waiting.length === 0) return skipped;
    while (waiting.length > 0) {
      const requests = firstOf(waiting);
      const batch = requests.flat();
      const counted = await record(batch);
      waiting = waiting.slice(requests.length);
      onWritten(batch, counted);
    }
    written.resolve();
    return undefined;
  }

  async function record(batch: readonly AttemptOutcome[]): Promise<readonly AttemptOutcome[]> {
    const ordered = batch.filter(isOrdered);
    if (ordered.length === 0) return recordOutcomes(query, batch);
    const free = batch.filter((outcome) => !isOrdered(outcome));
    return [
      ...(free.length > 0 ? await recordOutcomes(query, free) : []),
      ...(await recordOrderedOutcomes(query, ordered)),
    ];
  }

  return {
    add(outcomes) {
      if (waiting.length === 0) written = Promise.withResolvers();
      waiting.push(outcomes);
      writing.wakeSoon();
    },
    async stop() {
      while (waiting.length > 0) await written.promise;
      await writing.stop();
    },
  };
}

/** Returns the first requests' outcomes, up to `batchSize` of them unless one request has more. */
function firstOf(waiting: readonly (readonly AttemptOutcome[])[]): readonly (readonly AttemptOutcome[])[] {
  let count = 0;
  const end = waiting.findIndex((outcomes, index) => {
    count += outcomes.length;
    return index > 0 && count > batchSize;
  });
  // A copy: more outcomes are added while these are written.
  return waiting.slice(0, end < 0 ? undefined : end);
}
