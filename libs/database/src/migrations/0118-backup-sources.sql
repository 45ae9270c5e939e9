-- Where a backup comes from: a request, the schedule, or an archive that an admin uploaded.
alter table system.backups add column source text not null default 'request';
-- For an uploaded archive: when its backup was made.
alter table system.backups add column data_at timestamptz;
