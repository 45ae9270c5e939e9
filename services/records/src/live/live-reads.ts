import type { Database } from '@recordbus/database';
import type { AppError } from '@recordbus/errors';
import type { LiveCaller, LivePlan, LiveReads } from '@recordbus/live';
import { createSharedRefresh } from '@recordbus/process/background';
import type { QuerySchema } from '@recordbus/query';
import { asClient, clientOf } from '@recordbus/request/request-scope';
import type { CollectionCache, FieldEncryption } from '@recordbus/schema';
import type { RecordReads } from '../read/record-reads.ts';
import { retryWhileOutdated } from '../record/retry-outdated.ts';
import type { ServedCollections } from '../record/served-collections.ts';
import { admitsToChannel } from './channel-rule.ts';
import type { CompiledPlan } from './compile-plan.ts';
import { findCandidates, judgeEvents } from './judge.ts';
import { createLivePlans } from './live-plans.ts';
import { openPlans } from './open-plans.ts';
import { readSnapshot } from './snapshot.ts';

interface LiveReadsDeps {
  readonly database: Database;
  readonly reads: RecordReads;
  readonly cache: CollectionCache;
  readonly served: ServedCollections;
  readonly schema: QuerySchema;
  readonly encryption: FieldEncryption;
  /** Returns the refusal for a database error; undefined for any other error. */
  mapError(error: unknown): AppError | undefined;
}

/** Creates the functions that the realtime service calls. */
export function createLiveReads(deps: LiveReadsDeps): LiveReads {
  const { database, reads, cache, served, schema, encryption, mapError } = deps;
  const plans = createLivePlans({ collections: cache, schema });
  // The rules that judge a record must not be older than its event.
  const refresh = createSharedRefresh(async () => {
    const [row] = await database.read<{ version: number }>(readSchemaVersion);
    if (row && row.version !== cache.version) await cache.reload();
  });
  let second = 0;
  const clock = createSharedRefresh(async () => {
    const [row] = await database.read<{ second: number }>(readSecond);
    second = row?.second ?? second;
  });
  const judging = {
    read: reads.live,
    readSystem: database.of('background').query,
    encryption,
    maxAnswerBytes: reads.maxAnswerBytes,
  };

  const findPlan = (plan: LivePlan) => () => plans.find(plan);
  /** Runs a client's work on the current schema. Database errors become refusals. */
  const current = async <T>(client: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await asClient(client, async () => {
        await refresh.run();
        return work();
      });
    } catch (error) {
      throw mapError(error) ?? error;
    }
  };

  return {
    open: (requests) => current('live', () => openPlans({ served, plans, schema }, requests)),
    judge: ({ plan, events, client, callers }) =>
      current(client, async () => {
        const judge = (compiled: CompiledPlan) => judgeEvents(judging, compiled, events, callers);
        const verdicts = await withPlan(findPlan(plan), judge, cache);
        return verdicts ? { isStale: false, events: verdicts } : { isStale: true };
      }),
    isCurrent: (asked) => current('live', () => plans.areCurrent(asked)),
    candidates: ({ plan, events, client }) =>
      current(client, () => withPlan(findPlan(plan), (compiled) => findCandidates(judging, compiled, events), cache)),
    snapshot: (request, caller) =>
      current(clientOfCaller(caller), async () => {
        const state = await readSnapshot({ reads, served, schema, encryption }, request, caller);
        if (state.total === undefined) return state;
        // Read after the records, so none of their versions is later.
        await clock.run();
        return { ...state, at: second };
      }),
    admitsToChannel: (rule, channel, caller) =>
      current(clientOfCaller(caller), () => admitsToChannel({ read: reads.live, schema }, rule, channel, caller)),
  };
}

/**
 * The client for taking turns. In the scope of the request that opened the connection, a large answer would occupy its
 * place until the connection closes.
 */
const clientOfCaller = ({ principal, address = '' }: LiveCaller): string =>
  clientOf({ principal, clientAddress: address });

const readSchemaVersion = {
  name: 'schema-version',
  text: "select version from system.versions where name = 'schema'",
  values: [],
};

/** The version clock's current second. */
const readSecond = {
  name: 'live.second',
  text: 'select floor(extract(epoch from now()))::float8 as second',
  values: [],
};

/** Runs work with the current schema's plan; undefined if there is none. */
const withPlan = <T>(
  find: () => CompiledPlan | undefined,
  work: (plan: CompiledPlan) => Promise<T>,
  cache: Pick<CollectionCache, 'reload'>,
): Promise<T | undefined> =>
  retryWhileOutdated({ cache, load: find, isUnchanged: Object.is }, async (plan) => plan && work(plan));
