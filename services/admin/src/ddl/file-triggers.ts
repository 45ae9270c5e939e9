import { type Collection, type Field, quoteIdentifier, quoteLiteral, tableOf } from '@recordbus/schema';

const fileFields = ({ fields }: Collection): Field[] => fields.filter(({ type }) => type === 'file');

/**
 * The triggers that put the files which a write drops, or whose record it deletes, among those to be removed
 * (migration 0012): in the same transaction whoever writes, so no file outlives its record and none goes before.
 */
export function planFileTriggers(collection: Collection): string[] {
  const fields = fileFields(collection);
  if (fields.length === 0) return [];
  const table = tableOf(collection);
  const columns = fields.map(({ name }) => quoteIdentifier(name));
  const names = fields.map(({ name }) => `, ${quoteLiteral(name)}`);
  return [
    `create trigger files_dropped after update on ${table} for each row
   when (${columns.map((column) => `old.${column} is distinct from new.${column}`).join(' or ')})
   execute function system.files_dropped(${quoteLiteral(collection.id)}${names.join('')})`,
    `create trigger records_with_files_deleted after delete on ${table} referencing old table as gone
   for each statement execute function system.records_with_files_deleted(${quoteLiteral(collection.id)})`,
  ];
}

/** Takes the triggers off, as the columns that they look at can't be changed under them. */
export const planNoFileTriggers = (collection: Collection): string[] =>
  fileFields(collection).length === 0
    ? []
    : ['files_dropped', 'records_with_files_deleted'].map((name) => `drop trigger ${name} on ${tableOf(collection)}`);

/** Has the files of a field that is dropped removed; to be done while the column is there. */
export const planFilesOfDropped = (collection: Collection, field: Field): string[] =>
  field.type !== 'file'
    ? []
    : [
        `insert into system.file_removals (collection_id, record_id, name)
   select ${quoteLiteral(collection.id)}, id, system.file_names(to_jsonb(t), array[${quoteLiteral(field.name)}])
   from (select id, ${quoteIdentifier(field.name)} from ${tableOf(collection)}) t`,
      ];

/** Has every file of a collection that is dropped removed; fields that are gone may have left some on their way. */
export const planFilesOfCollection = ({ id }: Collection): string =>
  `insert into system.file_removals (collection_id) values (${quoteLiteral(id)})`;
