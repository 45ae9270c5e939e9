import { type Collection, type Field, quoteIdentifier, quoteLiteral, tableOf } from '@recordbus/schema';

const fileFields = ({ fields }: Collection): Field[] => fields.filter(({ type }) => type === 'file');

/**
 * Plans the triggers that queue files for removal when a write drops them or deletes their record (schema.sql).
 * They run in any writer's transaction, so a file is removed if and only if the write commits.
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

/** Drops the triggers: PostgreSQL does not alter columns that a trigger names. */
export const planDropFileTriggers = (collection: Collection): string[] =>
  fileFields(collection).length === 0
    ? []
    : ['files_dropped', 'records_with_files_deleted'].map((name) => `drop trigger ${name} on ${tableOf(collection)}`);

/** Queues a dropped field's files for removal. Must run before its column is dropped. */
export const planRemoveFilesOfField = (collection: Collection, field: Field): string[] =>
  field.type !== 'file'
    ? []
    : [
        `insert into system.file_removals (collection_id, record_id, name)
   select ${quoteLiteral(collection.id)}, id, system.file_names(to_jsonb(t), array[${quoteLiteral(field.name)}])
   from (select id, ${quoteIdentifier(field.name)} from ${tableOf(collection)}) t`,
      ];

/** Queues all a dropped collection's files for removal, including those in fields dropped before. */
export const planRemoveAllFiles = ({ id }: Collection): string =>
  `insert into system.file_removals (collection_id) values (${quoteLiteral(id)})`;
