import type { ValueCipher } from '@recordbus/crypto';
import { inSlices } from '@recordbus/limits/time-slice';
import { type Collection, type Field, tableOf } from '@recordbus/schema';
import { countViolations, isRequired, violationsOf, withoutValue } from '../collections/check-rows.ts';
import { isEmpty, planChecks, planUniqueChecks } from '../ddl/checks.ts';
import { compareFields } from '../ddl/compare-fields.ts';
import type { Change } from './change.ts';
import type { SchemaPlan } from './compute-plan.ts';
import type { LimitedCounts } from './limited-count.ts';

/** Returns the changes with how many records and values are lost. */
export async function countLosses(
  changes: readonly Change[],
  { collections }: SchemaPlan,
  counts: LimitedCounts,
): Promise<Change[]> {
  const lost = new Map<string, Change>();
  for (const collection of collections.dropped.filter(({ type }) => type !== 'view'))
    lost.set(collection.name, {
      action: 'drop',
      kind: 'collection',
      name: collection.name,
      records: (await countRecords(collection, counts)) ?? null,
    });
  for await (const { before, after } of inSlices(collections.kept)) {
    if (before === after || before.type === 'view') continue;
    const { dropped } = compareFields(before, after);
    if (dropped.length === 0) continue;
    const values = await countValues(before, dropped, counts);
    for (const [index, field] of dropped.entries()) {
      const name = `${after.name}.${field.name}`;
      lost.set(name, { action: 'drop', kind: 'field', name, values: values?.[index] ?? null });
    }
  }
  return changes.map((change) => {
    const counted = change.action === 'drop' ? lost.get(change.name) : undefined;
    return counted?.kind === change.kind ? counted : change;
  });
}

/** Counts a collection's records. Undefined when it takes too long. */
export const countRecords = (
  collection: Pick<Collection, 'name'>,
  counts: LimitedCounts,
): Promise<number | undefined> =>
  counts.count(async (query) => {
    const [row] = await query<{ count: number }>({ text: `select count(*) from ${tableOf(collection)}`, values: [] });
    return row?.count ?? 0;
  });

const countValues = (
  collection: Collection,
  fields: readonly Field[],
  counts: LimitedCounts,
): Promise<readonly number[] | undefined> =>
  counts.count(async (query) => {
    const filled = fields.map((field) => `count(*) filter (where not (${isEmpty(field)}))`);
    const [row] = await query<{ counts: number[] }>({
      text: `select to_jsonb(array[${filled.join(', ')}]) as counts from ${tableOf(collection)}`,
      values: [],
    });
    return row?.counts ?? [];
  });

/**
 * Checks the stored values against the new definitions without a lock. Adds what is wrong to the plan's problems, and
 * returns warnings about what only the apply can check.
 */
export async function checkStoredValues(
  { collections, migrations, problems }: SchemaPlan,
  cipher: ValueCipher,
  counts: LimitedCounts,
): Promise<string[]> {
  const warnings: string[] = [];
  for await (const { before, after } of inSlices(collections.kept)) {
    if (before === after || before.type === 'view') continue;
    for (const check of [...planChecks(before, after, cipher), ...planUniqueChecks(before, after)]) {
      const place = `collections.${after.name}.${check.place}`;
      const rows = await counts.count((query) => countViolations(query, check));
      if (rows === undefined) warnings.push(`${place}: checking the records took too long; the apply checks them.`);
      else if (rows > 0 && isRequired(check) && migrations.length > 0)
        warnings.push(`${place}: ${withoutValue(rows)}; the migrations have to fill it in.`);
      else if (rows > 0) problems.add(place, violationsOf(check, rows));
    }
  }
  return warnings;
}
