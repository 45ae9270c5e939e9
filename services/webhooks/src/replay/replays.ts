import type { Bus, ErasedRecords, EventStream } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import { whenWoken } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { EventDays } from '../fan-out/event-days.ts';
import type { FilterPlans } from '../fan-out/filter-plans.ts';
import { replayMissing } from './replay-missing.ts';
import { answerRequest, takeRequest } from './replay-requests.ts';

/** Serves the admin service's requests to replay missing events. It runs a statement only after a notice. */
interface Replays {
  start(): void;
  stop(): Promise<void>;
}

interface ReplaysOptions {
  readonly query: Query;
  readonly bus: Bus;
  readonly stream: EventStream;
  readonly days: EventDays;
  readonly filters: FilterPlans;
  readonly readLife: () => Promise<number>;
  readonly erased: Pick<ErasedRecords, 'isErased' | 'refresh'>;
  readonly log: Logger;
  /** Called when deliveries were created. */
  readonly onEnqueued: () => void;
}

const retryMs = 1000;

/** Creates the object. Each replica serves one request at a time. */
export function createReplays({ query, bus, log, onEnqueued, ...rest }: ReplaysOptions): Replays {
  const serving = whenWoken({ name: 'replay missing events', log, retryMs, run: serve });
  let end: (() => void) | undefined;

  async function serve(ending: AbortSignal): Promise<undefined> {
    for (;;) {
      const request = ending.aborted ? undefined : await takeRequest(query);
      if (!request) return undefined;
      try {
        const count = await replayMissing({ query, bus, ...rest }, request);
        if (count > 0 && !request.isDryRun) onEnqueued();
        await answerRequest(query, request, { count });
      } catch (error) {
        log.warn({ err: error, webhook_id: request.webhookId }, 'cannot replay missing events');
        await answerRequest(query, request, { error: String(error) });
      }
    }
  }

  return {
    start() {
      end = bus.onNotice('replays', serving.wake);
    },
    async stop() {
      end?.();
      await serving.stop();
    },
  };
}
