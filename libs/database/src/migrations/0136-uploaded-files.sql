-- What an upload says about its files, beside their bytes. A write adds the rows with its record; the records service
-- removes them with the bytes. Files from before this table have none.
create table system.uploaded_files (
  collection_id text collate "C" not null,
  record_id text collate "C" not null,
  -- The stored name.
  name text collate "C" not null,
  -- The sender's name; null when there was none.
  original text,
  -- In bytes.
  size bigint not null,
  -- The content type, by the first bytes.
  type text not null,
  primary key (collection_id, record_id, name)
);

-- With it a write's statement keeps its upload's files: a list of {id, original, size, type}. It deletes their
-- announcements, adds their rows, and fails if an announcement is gone. A file without a size has no row.
create function system.keep_announced(uploads jsonb) returns boolean language plpgsql strict volatile as $$
  declare
    upload jsonb;
    kept system.file_removals;
  begin
    for upload in select value from jsonb_array_elements(uploads) loop
      delete from system.file_removals where id = (upload ->> 'id')::bigint returning * into kept;
      if not found then
        raise exception 'an announced file was removed' using errcode = 'RB002';
      end if;
      if upload ->> 'size' is not null then
        insert into system.uploaded_files (collection_id, record_id, name, original, size, type) values (
          kept.collection_id, kept.record_id, kept.name,
          upload ->> 'original', (upload ->> 'size')::bigint, upload ->> 'type'
        ) on conflict (collection_id, record_id, name) do nothing;
      end if;
    end loop;
    return true;
  end
$$;
