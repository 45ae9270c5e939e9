import { type Collection, type RecordColumn, recordColumns } from '@recordbus/schema';

/**
 * The members of a record that a client asks for with `fields`: a comma-separated whitelist, to which `id` always
 * belongs (interface §4.5). Names that the collection does not have are ignored (contract §8).
 */
export function project(collection: Collection, fields: string | undefined): readonly RecordColumn[] {
  const columns = recordColumns(collection);
  if (fields === undefined) return columns;
  const wanted = new Set(fields.split(',').map((name) => name.trim()));
  return columns.filter(({ name }) => name === 'id' || wanted.has(name));
}
