import type { CollectionDefinition, FieldDefinition } from '@recordbus/client';
import type { AnyRecord } from '../api/records.ts';
import { displayFields, titleOf } from './values.ts';

/** A page expands at most this many relations. */
const maxExpanded = 20;

/** The labels of related records, by relation field and by id. */
export type RelationLabels = ReadonlyMap<string, ReadonlyMap<string, string>>;

type FindCollection = (name: string | undefined) => CollectionDefinition | undefined;

/** Returns the relations to expand. A user that the admin acts as may not expand a relation with a rule of its own. */
export const expandedFields = (fields: readonly FieldDefinition[]): readonly FieldDefinition[] =>
  fields.filter(({ type, view_rule }) => type === 'relation' && (view_rule ?? null) === null).slice(0, maxExpanded);

/** Returns the members of related records that their labels need. */
export const labelMembers = (fields: readonly FieldDefinition[], find: FindCollection): string[] =>
  expandedFields(fields).flatMap(({ name, collection }) =>
    ['id', ...displayFields(find(collection))].map((member) => `expand.${name}.${member}`),
  );

/** Returns the labels of the related records that were read with a page. */
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
