import { rateLimited, unavailable } from '@recordbus/errors';
import { createFairGate, type FairGate, namedCaller } from '@recordbus/limits/fair-gate';
import { currentCaller, holdUntilAnswered, releaseHeld } from '@recordbus/request/request-scope';
import type { ClassMeter } from '../connections/class-meter.ts';
import { shapedReadBudget } from '../connections/connection-budget.ts';
import { type LargeAnswers, largeBytesOf, type Release } from './large-answers.ts';

/** Clients' places for shaped reads. A large answer keeps its client's place until it is sent. */
export interface ReadPlaces {
  /** Reads in the client's place. If there is no room for the result, discards it, waits for room, and reads again. */
  run<T>(client: string, read: () => Promise<T>): Promise<T>;
  /**
   * Whether a result that was read without a place may be kept, because it is small or there is a place and room for
   * it.
   */
  keeps(result: unknown, client: () => string): boolean;
}

interface ReadPlacesDeps {
  readonly meter: ClassMeter;
  readonly largeAnswers: LargeAnswers;
}

/** Creates the places. They also bound how many reads run at once, for all clients together. */
export function createReadPlaces({ meter, largeAnswers }: ReadPlacesDeps): ReadPlaces {
  const places = createGateOfClients(meter);
  const admission = createFairGate({
    width: shapedReadBudget.atOnce,
    reserved: shapedReadBudget.reserved,
    maxWaiting: shapedReadBudget.maxWaiting,
    maxWaitMs: shapedReadBudget.waitMs,
    refuse: (because) => refusal(meter, because),
    onWaited: meter.waited,
  });
  meter.watch({
    connections: () => 0,
    idle: () => 0,
    inUse: () => admission.running,
    waiting: () => places.waiting + admission.waiting,
  });

  function keep(client: string, largeBytes: number, leave: Release): boolean {
    const release = largeAnswers.tryTake(largeBytes, client);
    if (release) holdBoth(release, leave);
    return release !== undefined;
  }

  /** Returns a read's result if it is small or there is room for it; otherwise only its size. */
  async function attempt<T>(client: string, read: () => Promise<T>, leave: Release): Promise<Attempt<T>> {
    const result = await read();
    const largeBytes = largeBytesOf(result);
    if (largeBytes === 0) {
      leave();
      return { result };
    }
    return keep(client, largeBytes, leave) ? { result } : { largeBytes };
  }

  return {
    async run(client, read) {
      releaseHeld();
      const leave = await places.enter(namedCaller(client));
      const admitted = () => admission.run(currentCaller(), read);
      try {
        const first = await attempt(client, admitted, leave);
        if ('result' in first) return first.result;
        const release = await largeAnswers.take(first.largeBytes, client);
        holdBoth(release, leave);
        return await admitted();
      } catch (error) {
        releaseHeld();
        leave();
        throw error;
      }
    },
    keeps(result, client) {
      const largeBytes = largeBytesOf(result);
      if (largeBytes === 0) return true;
      const name = client();
      const leave = places.tryEnter(namedCaller(name));
      if (leave && keep(name, largeBytes, leave)) return true;
      leave?.();
      return false;
    },
  };
}

type Attempt<T> = { readonly result: T } | { readonly largeBytes: number };

/** Each client has its own places. */
const createGateOfClients = (meter: ClassMeter): FairGate =>
  createFairGate({
    width: Number.POSITIVE_INFINITY,
    widthPerClient: shapedReadBudget.perClient,
    maxWaiting: shapedReadBudget.maxWaiting,
    maxWaitingPerClient: shapedReadBudget.maxWaitingPerClient,
    maxWaitMs: shapedReadBudget.waitMs,
    refuse: (because) => refusal(meter, because),
    onWaited: meter.waited,
  });

function refusal(meter: ClassMeter, because: 'client' | 'all'): Error {
  meter.refused();
  return because === 'client' ? rateLimited(1) : unavailable('too many reads are waiting');
}

const holdBoth = (release: Release, leave: Release): void =>
  holdUntilAnswered(() => {
    release();
    leave();
  });
