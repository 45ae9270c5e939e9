import { setTimeout as sleep } from 'node:timers/promises';
import type { Query } from '@recordbus/database';
import type { Logger } from '@recordbus/shared/logging';
import { type Outcome, recordOutcomes } from './record-outcomes.ts';

/** Collects outcomes and writes them together: the largest single win of a queue in PostgreSQL. */
interface OutcomeWriter {
  add(outcome: Outcome): void;
  /** Resolves when everything added so far is written. */
  flush(): Promise<void>;
}

interface OutcomeWriterOptions {
  readonly query: Query;
  readonly log: Logger;
  /** Called after each write with what it held, and those of it that counted. */
  readonly onWritten: (outcomes: readonly Outcome[], counted: readonly Outcome[]) => void;
}

const gatherMs = 10;
const batchSize = 200;
const retryMs = 500;

/** Makes a writer; while the database is away it holds the outcomes and tries on. */
export function createOutcomeWriter({ query, log, onWritten }: OutcomeWriterOptions): OutcomeWriter {
  let waiting: Outcome[] = [];
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    await sleep(gatherMs);
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchSize);
      try {
        const counted = await recordOutcomes(query, batch);
        waiting = waiting.slice(batch.length);
        onWritten(batch, counted);
      } catch (error) {
        log.warn({ err: error, outcomes: waiting.length }, 'outcomes of deliveries were not written, trying on');
        await sleep(retryMs);
      }
    }
  }

  function start(): void {
    writing ??= write().finally(() => {
      writing = undefined;
      if (waiting.length > 0) start();
    });
  }

  return {
    add(outcome) {
      waiting.push(outcome);
      start();
    },
    async flush() {
      while (writing) await writing;
    },
  };
}
