/** Creates the list of files to remove, and of used one-time file tokens. */
export const statements: readonly string[] = [
  // Bytes to remove once they are due: of a file, of a record without a name, of a collection without a record. An upload
  // announces its files here before it writes them, and the commit deletes the rows, so files of a process that died are
  // found.
  `create table system.file_removals (
    id bigint generated always as identity primary key,
    collection_id text collate "C" not null,
    record_id text collate "C",
    name text collate "C",
    due_at timestamptz not null default now(),
    check (name is null or record_id is not null)
  )`,
  'create index file_removals_due on system.file_removals (due_at)',

  `create table system.used_file_tokens (
    id text collate "C" primary key,
    expires_at timestamptz not null
  )`,
  'create index used_file_tokens_expiry on system.used_file_tokens (expires_at)',

  `create function system.file_names(stored jsonb, columns text[]) returns setof text language sql immutable as $$
    select jsonb_array_elements_text(case jsonb_typeof(stored -> c)
      when 'array' then stored -> c when 'string' then jsonb_build_array(stored -> c) else '[]' end)
    from unnest(columns) c
  $$`,

  // The trigger of collections with file fields. Its arguments are the collection's id and the names of the columns.
  `create function system.files_dropped() returns trigger language plpgsql as $$
  begin
    insert into system.file_removals (collection_id, record_id, name)
    select tg_argv[0], old.id, name from (
      select system.file_names(to_jsonb(old), tg_argv[1:]) as name
      except select system.file_names(to_jsonb(new), tg_argv[1:])
    ) dropped;
    return null;
  end $$`,
  `create function system.records_with_files_deleted() returns trigger language plpgsql as $$
  begin
    insert into system.file_removals (collection_id, record_id) select tg_argv[0], id from gone;
    return null;
  end $$`,
];
