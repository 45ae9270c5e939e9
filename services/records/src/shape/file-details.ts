import { type Collection, type Field, quoteIdentifier, quoteLiteral } from '@recordbus/schema';

/** A join that adds what an upload said about the file with the given name in the row's record, as SQL. */
export const joinUploaded = ({ id }: Pick<Collection, 'id'>, row: string, name: string, alias: string): string =>
  `left join system.uploaded_files ${alias} on ${alias}.collection_id = ${quoteLiteral(id)} and ${alias}.record_id = ${row}.id and ${alias}.name = ${name}`;

/** A file field's entry in `_files` as SQL: `"<field>":[{name, original, size, type}, …]` in the order of its names. */
export function describedFiles(collection: Pick<Collection, 'id'>, { name, options }: Field, row: string): string {
  const column = `${row}.${quoteIdentifier(name)}`;
  const names = options.multiple
    ? `jsonb_array_elements_text(coalesce(${column}, '[]')) with ordinality n (name, place)`
    : `(select ${column}, 1 where ${column} is not null) n (name, place)`;
  const entry = "json_build_object('name', n.name, 'original', u.original, 'size', u.size, 'type', u.type)";
  return `${quoteLiteral(`"${name}":`)} || (select coalesce(json_agg(${entry} order by n.place), '[]') from ${names} ${joinUploaded(collection, row, 'n.name', 'u')})::text`;
}
