import type { Collection, Field } from '@recordbus/schema';

/** A field before and after a change. */
export interface FieldPair {
  readonly old: Field;
  readonly now: Field;
}

/** Sorts fields into dropped, kept and added. The id identifies a field (collections §6.2). */
export function compareFields(before: Collection, after: Collection) {
  const oldById = new Map(before.fields.map((field) => [field.id, field]));
  const nowIds = new Set(after.fields.map(({ id }) => id));
  return {
    dropped: before.fields.filter(({ id }) => !nowIds.has(id)),
    kept: after.fields.flatMap((now): FieldPair[] => {
      const old = oldById.get(now.id);
      return old ? [{ old, now }] : [];
    }),
    added: after.fields.filter(({ id }) => !oldById.has(id)),
  };
}
