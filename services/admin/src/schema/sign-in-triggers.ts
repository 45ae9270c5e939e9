import type { Query } from '@recordbus/database';
import { findSources } from '@recordbus/query';
import { type Collection, loadCollections, quoteIdentifier, quoteLiteral } from '@recordbus/schema';

const [accountTrigger, sourceTrigger] = ['sign_in_account', 'sign_in_source'];

/** A trigger by its table and name, with its function's arguments. */
interface Trigger {
  readonly table: string;
  readonly name: string;
  readonly args: readonly string[];
}

/**
 * Keeps the triggers that note which accounts `sign_in_rule` must be checked for again (auth §4.5). Run it after every
 * schema change: a rule, the collections that it reads and their names may have changed. Without such rules it is one
 * statement.
 */
export async function keepSignInTriggers(query: Query, execute: (statements: readonly string[]) => Promise<void>) {
  const existing = await query<Trigger & { readonly hasRules: boolean }>({
    text: `select c.relname as table, t.tgname as name, array_remove(string_to_array(encode(t.tgargs, 'escape'), '\\000'), '') as args
      from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where c.relnamespace = 'records'::regnamespace and t.tgname = any($1::text[])
      union all select null, null, null where exists (select from system.collections where sign_in_rule is not null)`,
    values: [[accountTrigger, sourceTrigger]],
  });
  if (existing.length === 0) return;
  const wanted = triggersFor((await loadCollections(query)).collections);
  const keyOf = ({ table, name, args }: Trigger) => JSON.stringify([table, name, args]);
  const [kept, needed] = [new Set(existing.map(keyOf)), new Set(wanted.map(keyOf))];
  const onTable = ({ table }: Trigger) => `records.${quoteIdentifier(table)}`;
  await execute([
    ...existing
      .filter((trigger) => trigger.table !== null && !needed.has(keyOf(trigger)))
      .map((trigger) => `drop trigger ${trigger.name} on ${onTable(trigger)}`),
    ...wanted
      .filter((trigger) => !kept.has(keyOf(trigger)))
      .map((trigger) => `create trigger ${trigger.name} ${definitionOf(trigger, onTable(trigger))}`),
  ]);
}

const definitionOf = ({ name, args }: Trigger, table: string): string => {
  const given = args.map(quoteLiteral).join(', ');
  return name === accountTrigger
    ? `after update on ${table} for each row execute function system.sign_in_account_changed(${given})`
    : `after insert or update or delete on ${table} for each statement execute function system.sign_in_source_changed(${given})`;
};

function triggersFor(collections: readonly Collection[]): Trigger[] {
  const findCollection = (name: string) => collections.find((other) => other.name === name);
  const ruled = collections.filter(({ rules }) => rules.sign_in != null);
  const readers = new Map<string, string[]>();
  for (const collection of ruled) {
    const rule = collection.rules.sign_in;
    const sources = rule ? findSources(rule, { collection, schema: { findCollection }, accounts: [] }) : undefined;
    for (const { name, type } of sources?.collections ?? [])
      if (type !== 'view') readers.set(name, [...(readers.get(name) ?? []), collection.id]);
  }
  return [
    ...ruled.map(({ id, name }) => ({ table: name, name: accountTrigger, args: [id] })),
    ...[...readers].map(([table, ids]) => ({ table, name: sourceTrigger, args: ids.sort() })),
  ];
}
