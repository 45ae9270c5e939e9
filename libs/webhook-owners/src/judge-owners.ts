import { isDatabaseError, type Query } from '@recordbus/database';
import {
  compileWebhookRule,
  createNamedParameters,
  type EventRows,
  eventAlias,
  eventNumber,
  isAfter,
  type QuerySchema,
  selectEventRows,
} from '@recordbus/query';
import { type Collection, quoteIdentifier, tableOf } from '@recordbus/schema';
import { objectText, type RecordChange } from './record-change.ts';

/** A change, and a record that owns a webhook. */
export interface OwnedChange {
  readonly change: RecordChange;
  readonly owner: Collection;
  readonly ownerId: string;
}

/** Whether a collection's `webhook_rule` holds for an owner, for the record before and after the change. */
export interface RuleVerdict {
  readonly held: boolean;
  readonly holds: boolean;
}

interface Given extends EventRows {
  readonly numbers: readonly number[];
  readonly owners: readonly string[];
}

/**
 * Checks the `webhook_rule` of the changes' collections for their owners, with one statement for each pair of collections.
 * A rule holds for no owner that does not exist, for none if it cannot be compiled or evaluated, and for no record that
 * lacks a field that it names. Returns a verdict for each item.
 */
export async function judgeOwners(
  query: Query,
  schema: QuerySchema,
  items: readonly OwnedChange[],
): Promise<readonly RuleVerdict[]> {
  const verdicts = items.map(() => ({ held: false, holds: false }));
  const numbered = items.map((item, n) => ({ ...item, n }));
  const groups = Map.groupBy(numbered, ({ change, owner }) => `${change.collection.id} ${owner.id}`);
  for (const group of groups.values())
    for (const { n, isAfter } of await findHeld(query, schema, group)) {
      const verdict = verdicts[n];
      if (verdict) verdict[isAfter ? 'holds' : 'held'] = true;
    }
  return verdicts;
}

type Numbered = OwnedChange & { readonly n: number };
interface Held {
  readonly n: number;
  readonly isAfter: boolean;
}

async function findHeld(query: Query, schema: QuerySchema, group: readonly Numbered[]): Promise<readonly Held[]> {
  const [first] = group;
  const statement = first && compileJudge(first.change.collection, first.owner, schema);
  if (!statement) return [];
  const rows = group.flatMap(({ change: { record, previous }, n }) => [
    ...(hasAll(record, statement.fields) ? [`[${n},true,${objectText(record)}]`] : []),
    ...(previous && hasAll(previous, statement.fields) ? [`[${n},false,${objectText(previous)}]`] : []),
  ]);
  if (rows.length === 0) return [];
  try {
    return await query<Held>({
      text: statement.text,
      values: statement.valuesFrom({
        given: `[${rows.join(',')}]`,
        givenCount: rows.length,
        numbers: group.map(({ n }) => n),
        owners: group.map(({ ownerId }) => ownerId),
      }),
    });
  } catch (error) {
    if (!isUnsuitable(error)) throw error;
    // A field has another type than when the event happened, or the tables have just changed.
    if (group.length === 1) return [];
    const each: Held[] = [];
    for (const one of group) each.push(...(await findHeld(query, schema, [one])));
    return each;
  }
}

const hasAll = (record: ReadonlyMap<string, string>, fields: readonly string[]): boolean =>
  fields.every((name) => record.has(name));

/** Whether the record cannot be read as the collection is now: PostgreSQL's classes for data, and for unknown names. */
const isUnsuitable = (error: unknown): boolean => isDatabaseError(error) && /^(22|42)/.test(error.code ?? '');

/** Compiles the statement for one pair of collections; undefined if the rule holds for nobody. */
function compileJudge(collection: Collection, owner: Collection, schema: QuerySchema) {
  const rule = collection.rules.webhook;
  if (!rule) return undefined;
  const parameters = createNamedParameters<Given>();
  const events = selectEventRows(collection, parameters);
  const pairs = `unnest(${parameters.named('numbers', 'integer[]')}, ${parameters.named('owners', 'text[]')})`;
  const condition = compileWebhookRule(
    rule,
    { collection, schema, owner },
    { row: eventAlias, parameters },
    'pair.owner_id',
  );
  if (condition === undefined) return undefined;
  return {
    text: `with ${eventAlias} as materialized (
      ${events}
    ), pair as materialized (
      select * from ${pairs} as p (n, owner_id)
      where exists (select from ${tableOf(owner)} o where o.id = p.owner_id)
    )
    select ${eventNumber} as n, ${isAfter} as "isAfter"
    from pair join ${eventAlias} on ${eventNumber} = pair.n
    where (${condition})`,
    valuesFrom: parameters.valuesFrom,
    fields: collection.fields
      .map(({ name }) => name)
      .filter((name) => condition.includes(`${eventAlias}.${quoteIdentifier(name)}`)),
  };
}
