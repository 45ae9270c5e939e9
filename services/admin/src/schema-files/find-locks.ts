import { inSlices } from '@recordbus/limits/time-slice';
import { type Collection, fieldTypeOf, isComparedAlike, isEncrypted, isSearchIndex, isUnique } from '@recordbus/schema';
import { compareFields } from '../ddl/compare-fields.ts';
import type { Lock } from './change.ts';
import type { SchemaPlan } from './compute-plan.ts';
import { countRecords } from './count-losses.ts';
import type { LimitedCounts } from './limited-count.ts';
import { targetsOf } from './read-migration.ts';
import type { KeptCollection } from './target-collections.ts';

type Reason = Pick<Lock, 'waits' | 'rewrites'> & { readonly reason: string };

/** Returns an apply's locks, with their reasons (schema §3.4). */
export async function findLocks({ collections, migrations }: SchemaPlan, counts: LimitedCounts): Promise<Lock[]> {
  const reasons = new Map<string, Reason[]>();
  const add = (collection: string, reason: Reason) =>
    reasons.set(collection, [...(reasons.get(collection) ?? []), reason]);
  for await (const kept of inSlices(collections.kept))
    if (kept.before !== kept.after && kept.before.type !== 'view')
      for (const reason of reasonsOf(kept)) add(kept.before.name, reason);
  for (const { name, type } of collections.dropped)
    if (type !== 'view') add(name, { reason: 'drop', waits: 'reads and writes', rewrites: false });
  const currentNames = new Map(collections.kept.map(({ before, after }) => [after.name, before.name]));
  for (const target of await newTargets(collections.created, collections.kept)) {
    const name = currentNames.get(target);
    if (name !== undefined) add(name, { reason: 'new relation to it', waits: 'writes', rewrites: false });
  }
  for (const migration of migrations)
    for (const target of await targetsOf(migration)) {
      const name = currentNames.get(target);
      if (name !== undefined) add(name, { reason: `migration ${migration.name}`, waits: 'writes', rewrites: false });
    }
  const locks: Lock[] = [];
  for (const [collection, found] of reasons)
    locks.push({
      collection,
      waits: found.some(({ waits }) => waits === 'reads and writes') ? 'reads and writes' : 'writes',
      reasons: [...new Set(found.map(({ reason }) => reason))],
      rewrites: found.some(({ rewrites }) => rewrites),
      records: (await countRecords({ name: collection }, counts)) ?? null,
    });
  return locks;
}

const all = (reason: string, rewrites = false): Reason => ({ reason, waits: 'reads and writes', rewrites });
const writes = (reason: string, rewrites = false): Reason => ({ reason, waits: 'writes', rewrites });

function reasonsOf({ before, after }: KeptCollection): Reason[] {
  const { dropped, kept, added } = compareFields(before, after);
  const indexes = new Set((before.indexes ?? []).map(({ id }) => id));
  const left = new Set((after.indexes ?? []).map(({ id }) => id));
  return [
    ...(before.name === after.name ? [] : [all('rename')]),
    ...dropped.map(({ name }) => all(`drop ${name}`)),
    ...added.map(({ name }) => all(`add ${name}`)),
    ...kept.flatMap(({ old, now }) => [
      ...(old.name === now.name ? [] : [all(`rename ${old.name}`)]),
      ...(fieldTypeOf(old).columnType(old) === fieldTypeOf(now).columnType(now)
        ? []
        : [all(`another column type for ${now.name}`, true)]),
      ...(isEncrypted(old) === isEncrypted(now)
        ? []
        : [writes(`${isEncrypted(now) ? 'encrypt' : 'decrypt'} ${now.name}`, true)]),
      ...(isUnique(now) && !(isUnique(old) && isComparedAlike(old, now))
        ? [writes(`unique index on ${now.name}`)]
        : []),
      ...(now.required && !old.required ? [writes(`check ${now.name}`)] : []),
      ...((fieldTypeOf(now).narrowings?.(old, now, 'x') ?? []).length > 0 ? [writes(`check ${now.name}`)] : []),
    ]),
    // A search index is built later, and holds the table only for a moment.
    ...(after.indexes ?? [])
      .filter((index) => !indexes.has(index.id) && !isSearchIndex(index))
      .map(({ name }) => writes(`index ${name}`)),
    ...(before.indexes ?? []).filter(({ id }) => !left.has(id)).map(({ name }) => all(`drop index ${name}`)),
  ];
}

/** Returns new relations' targets. */
async function newTargets(
  created: readonly Collection[],
  kept: readonly KeptCollection[],
): Promise<ReadonlySet<string>> {
  const fields = created.flatMap((collection) => collection.fields);
  for await (const { before, after } of inSlices(kept))
    if (before !== after) fields.push(...compareFields(before, after).added);
  return new Set(fields.flatMap(({ collection }) => collection ?? []));
}
