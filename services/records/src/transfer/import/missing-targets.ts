import type { Query } from '@recordbus/database';
import { type Collection, type ColumnValues, type Field, tableOf } from '@recordbus/schema';
import { ownRelations } from './import-options.ts';

/** A record that will be written. */
export interface Referrer {
  /** Its id, if the body has it. */
  readonly id: string | undefined;
  readonly values: ColumnValues;
}

/** The ids to which a value refers. */
function idsIn(field: Field, value: unknown): readonly string[] {
  if (typeof value !== 'string') return [];
  return field.options.multiple ? (JSON.parse(value) as string[]) : [value];
}

/**
 * Finds the records' relations to their own collection whose targets are neither stored nor among these records.
 * Returns the fields, and the missing ids, by record.
 */
export async function findMissingTargets<R extends Referrer>(
  query: Query,
  collection: Collection,
  referrers: readonly R[],
): Promise<Map<R, MissingTargets>> {
  const fields = ownRelations(collection);
  const named = new Map(referrers.map((one) => [one, referencesOf(one, fields)]));
  const ids = [...new Set([...named.values()].flatMap((references) => references.flatMap(({ targets }) => targets)))];
  if (ids.length === 0) return new Map();
  const rows = await query<{ id: string }>({
    text: `select i.id from unnest($1::text[]) i(id) where not exists (select from ${tableOf(collection)} t where t.id = i.id)`,
    values: [ids],
  });
  const missing = new Set(rows.map(({ id }) => id));
  return withoutEachOther(named, missing);
}

/** The fields whose targets are missing, and these targets. */
export interface MissingTargets {
  readonly fields: readonly Field[];
  readonly ids: readonly string[];
}

interface References {
  readonly field: Field;
  readonly targets: readonly string[];
}

const referencesOf = ({ id, values }: Referrer, fields: readonly Field[]): readonly References[] =>
  fields.flatMap((field) => {
    const targets = idsIn(field, values.get(field.name)).filter((target) => target !== id);
    return targets.length > 0 ? [{ field, targets }] : [];
  });

/** Records in one statement may refer to each other, unless one must wait. */
function withoutEachOther<R extends Referrer>(
  named: ReadonlyMap<R, readonly References[]>,
  missing: ReadonlySet<string>,
): Map<R, MissingTargets> {
  const here = new Set([...named.keys()].flatMap(({ id }) => id ?? []));
  const found = new Map<R, MissingTargets>();
  for (let hasChanged = true; hasChanged; ) {
    hasChanged = false;
    for (const [one, references] of named) {
      if (found.has(one)) continue;
      const lacking = references
        .map(({ field, targets }) => ({ field, targets: targets.filter((id) => missing.has(id) && !here.has(id)) }))
        .filter(({ targets }) => targets.length > 0);
      if (lacking.length === 0) continue;
      found.set(one, { fields: lacking.map(({ field }) => field), ids: lacking.flatMap(({ targets }) => targets) });
      if (one.id !== undefined) hasChanged = here.delete(one.id) || hasChanged;
    }
  }
  return found;
}
