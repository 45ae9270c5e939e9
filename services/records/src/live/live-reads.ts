import type { Database } from '@recordbus/database';
import type { LiveReads } from '@recordbus/live';
import type { QuerySchema } from '@recordbus/query';
import type { CollectionCache, FieldEncryption } from '@recordbus/schema';
import { createSharedRefresh } from '@recordbus/shared/background';
import { asClient } from '@recordbus/shared/request-scope';
import type { RecordReads } from '../read/record-reads.ts';
import { isOutdatedSchema, type ServedCollections } from '../record/served-collections.ts';
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
}

/** The most attempts of one call while the schema changes. */
const maxAttempts = 8;

/** Creates what the realtime service asks of the records service. */
export function createLiveReads(deps: LiveReadsDeps): LiveReads {
  const { database, reads, cache, served, schema, encryption } = deps;
  const plans = createLivePlans({ collections: cache, schema });
  // A record is judged by rules that are no older than its event.
  const refresh = createSharedRefresh(async () => {
    const [row] = await database.read<{ version: number }>(readSchemaVersion);
    if (row && row.version !== cache.version) await cache.reload();
  });
  const judging = {
    read: reads.live,
    readSystem: database.of('background').query,
    encryption,
    maxAnswerBytes: reads.maxAnswerBytes,
  };

  return {
    async open(requests) {
      await refresh.run();
      return openPlans({ served, plans }, requests);
    },
    judge: ({ plan, events, client, callers }) =>
      asClient(client, async () => {
        await refresh.run();
        const verdicts = await withPlan(
          () => plans.find(plan),
          (compiled) => judgeEvents(judging, compiled, events, callers),
          cache,
        );
        return verdicts ? { isStale: false, events: verdicts } : { isStale: true };
      }),
    async isCurrent(asked) {
      await refresh.run();
      return asked.map((plan) => plans.find(plan) !== undefined);
    },
    candidates: ({ plan, events, client }) =>
      asClient(client, async () => {
        await refresh.run();
        const find = () => plans.find(plan);
        return withPlan(find, (compiled) => findCandidates(judging, compiled, events), cache);
      }),
    async snapshot(request, caller) {
      await refresh.run();
      return readSnapshot({ reads, served, schema, encryption }, request, caller);
    },
    admitsToChannel: (rule, channel, caller) => admitsToChannel({ read: reads.live, schema }, rule, channel, caller),
  };
}

const readSchemaVersion = {
  name: 'schema-version',
  text: "select version from system.versions where name = 'schema'",
  values: [],
};

/** Works with a plan of the current schema; undefined where there is none. */
async function withPlan<T>(
  find: () => CompiledPlan | undefined,
  work: (plan: CompiledPlan) => Promise<T>,
  cache: Pick<CollectionCache, 'reload'>,
): Promise<T | undefined> {
  for (let left = maxAttempts - 1; ; left -= 1) {
    const plan = find();
    if (!plan) return undefined;
    try {
      return await work(plan);
    } catch (error) {
      if (!isOutdatedSchema(error) || left === 0) throw error;
      await cache.reload();
      if (find() === plan) throw error;
    }
  }
}
