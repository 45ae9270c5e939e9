import type { Query } from '@recordbus/database';
import {
  compileEventFilter,
  createParameters,
  findCaseCollation,
  type Parameters,
  QueryError,
  type QuerySchema,
} from '@recordbus/query';
import { type Collection, loadCollections } from '@recordbus/schema';
import { isMatched } from './fan-out.ts';

/** A webhook with a filter. */
interface FilteredWebhook {
  readonly id: string;
  readonly filter: string;
  /** The names of the batch's events that its patterns match. */
  readonly events: readonly string[];
}

/** A filter's SQL. Its literals are columns of the row `hook`, so webhooks whose filters differ in them share a plan. */
export interface FilterPlan {
  readonly sql: string;
  /** The columns' SQL types: `v1`, `v2`, … */
  readonly types: readonly string[];
}

/** A webhook's filter, and its literals as JSON texts. */
interface CompiledFilter {
  readonly plan: FilterPlan;
  readonly values: readonly string[];
}

/** The webhooks whose filters have the same plan. */
export interface PlanGroup {
  readonly plan: FilterPlan;
  readonly webhooks: readonly (FilteredWebhook & { readonly values: readonly string[] })[];
}

/** Groups webhooks whose compiled filters have the same plan. */
export const groupByPlan = (webhooks: readonly (FilteredWebhook & CompiledFilter)[]): PlanGroup[] =>
  [...Map.groupBy(webhooks, ({ plan }) => JSON.stringify(plan)).values()].flatMap((same) =>
    same[0] ? [{ plan: same[0].plan, webhooks: same }] : [],
  );

/** The filters of the webhooks that a batch's events match. */
export interface BatchFilters {
  /** Whether one of the webhooks has a filter. */
  readonly isFiltered: boolean;
  /** Whether this webhook has a filter. */
  has(webhookId: string): boolean;
  findCollection(name: string): Collection | undefined;
  /** Returns the filters for a collection's events, grouped by plan, without those that cannot hold for it. */
  groupsFor(collection: Collection | undefined): readonly PlanGroup[];
}

/** The aliases of the rows that filters read. */
export const rows = { facts: 'facts', record: 'record', previous: 'previous', hook: 'hook' };

/** A stack has few filters. With more, the next batch's are compiled again. */
const maxKept = 10_000;

/** Reads webhooks' filters. */
export interface FilterPlans {
  /** Reads the filters of the webhooks that match events with these names, or only the given webhook's. */
  load(events: readonly string[], webhookId?: string): Promise<BatchFilters>;
}

/** Creates the reader, which keeps compiled filters for as long as the schema is the same. */
export function createFilterPlans(query: Query): FilterPlans {
  let schema: Awaited<ReturnType<typeof loadCollections>> | undefined;
  let byName = new Map<string, Collection>();
  let collation: string | undefined;
  const compiled = new Map<string, CompiledFilter | undefined>();

  /** Reads the filters and the collections of one schema version: a rename changes both in one transaction. */
  async function readFilters(events: readonly string[]): Promise<FilteredWebhook[]> {
    for (;;) {
      const found = await query<{ version: number } & (FilteredWebhook | { id: null })>({
        name: 'fan-out.filters',
        text: `select v.version, w.id, w.filter, w.events from system.versions v left join (
            select w.id, w.filter, matched.events from system.webhooks w, lateral (
              select array(select e.event from unnest($1::text[]) as e (event) where ${isMatched}) as events
            ) as matched where w.filter is not null and matched.events <> '{}'
          ) as w on true where v.name = 'schema'`,
        values: [events],
      });
      if (found[0]?.version === schema?.version) return found.flatMap((row) => (row.id === null ? [] : [row]));
      collation = await findCaseCollation(query);
      schema = await loadCollections(query);
      byName = new Map(schema.collections.map((collection) => [collection.name, collection]));
      compiled.clear();
    }
  }

  function compile(filter: string, collection: Collection | undefined): CompiledFilter | undefined {
    const key = `${collection?.id ?? ''} ${filter}`;
    if (compiled.has(key)) return compiled.get(key);
    if (compiled.size >= maxKept) compiled.clear();
    const result = compileFilter(filter, collection, { findCollection: (name) => byName.get(name), collation });
    compiled.set(key, result);
    return result;
  }

  return {
    async load(events, webhookId) {
      const all = await readFilters(events);
      const webhooks = all.filter(({ id }) => webhookId === undefined || id === webhookId);
      return {
        isFiltered: webhooks.length > 0,
        has: (webhookId) => webhooks.some(({ id }) => id === webhookId),
        findCollection: (name) => byName.get(name),
        groupsFor(collection) {
          const usable = webhooks.flatMap((webhook) => {
            const found = compile(webhook.filter, collection);
            return found ? [{ ...webhook, ...found }] : [];
          });
          return groupByPlan(usable);
        },
      };
    },
  };
}

/** Compiles a filter for a collection's events. Undefined for one that names a field which the collection lacks: it holds for none of its events. */
export function compileFilter(
  filter: string,
  collection: Collection | undefined,
  schema: QuerySchema,
): CompiledFilter | undefined {
  const { parameters, types, values } = createHookColumns();
  try {
    const sql = compileEventFilter(filter, { collection, schema }, { ...rows, parameters });
    return { plan: { sql, types }, values };
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}

/** Parameters whose values are the columns of `hook`. A filter reads no request. */
function createHookColumns(): { parameters: Parameters; types: string[]; values: string[] } {
  const types: string[] = [];
  const values: string[] = [];
  const parameters: Parameters = {
    ...createParameters(),
    fixed(value, sqlType) {
      values.push(jsonOf(value, sqlType));
      return `${rows.hook}.v${types.push(sqlType)}`;
    },
  };
  return { parameters, types, values };
}

/** A `jsonb` literal is JSON text already. */
function jsonOf(value: unknown, sqlType: string): string {
  if (!sqlType.startsWith('jsonb')) return JSON.stringify(value);
  return Array.isArray(value) ? `[${value.map(String).join(',')}]` : String(value);
}
