import type { CollectionDefinition, FieldDefinition } from '@recordbus/client';
import type { AnyRecord } from '../api/records.ts';
import { displayFields, titleOf } from './values.ts';

/** A page expands at most this many relations. */
const maxExpanded = 20;

/** Related records' labels, by relation field and by id. */
export type RelationLabels = ReadonlyMap<string, ReadonlyMap<string, string>>;

type FindCollection = (name: string | undefined) => CollectionDefinition | undefined;

/** Returns the relations to expand. A user that the admin acts as may not expand a relation that has its own rule. */
export const expandedFields = (fields: readonly FieldDefinition[]): readonly FieldDefinition[] =>
  fields.filter(({ type, view_rule }) => type === 'relation' && (view_rule ?? null) === null).slice(0, maxExpanded);

/** Returns the related records' members that their labels need. */
export const labelMembers = (fields: readonly FieldDefinition[], find: FindCollection): string[] =>
  expandedFields(fields).flatMap(({ name, collection }) =>
    ['id', ...displayFields(find(collection))].map((member) => `expand.${name}.${member}`),
  );

/** Returns the labels for related records that were read with a page. */
export function labelsIn(
  records: readonly AnyRecord[],
  fields: readonly FieldDefinition[],
  find: FindCollection,
): RelationLabels {
  const labels = new Map<string, Map<string, string>>();
  for (const { name, collection } of expandedFields(fields)) {
    const target = find(collection);
    const byId = new Map<string, string>();
    for (const { expand } of records)
      for (const related of listOf((expand as Readonly<Record<string, unknown>> | undefined)?.[name])) {
        const label = titleOf(related, target);
        if (label !== related.id) byId.set(related.id, label);
      }
    labels.set(name, byId);
  }
  return labels;
}

const listOf = (related: unknown): readonly AnyRecord[] =>
  Array.isArray(related) ? related : related ? [related as AnyRecord] : [];
