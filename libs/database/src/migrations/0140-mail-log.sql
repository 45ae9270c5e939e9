-- Who got which mail, and what became of it: one row for each recipient, never with what the mail says. The service that
-- queues a mail adds its row, the auth service keeps it up to date and removes it after mail.retention_days.
create table system.mails (
  -- The queued mail's.
  id uuid primary key,
  template text not null,
  recipient text not null,
  -- The record that the mail is about, such as the recipient's account. Null if nobody said.
  collection_id text collate "C",
  record_id text collate "C",
  state text not null default 'waiting' check (state in ('waiting', 'sent', 'dead')),
  attempts integer not null default 0,
  last_error text,
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
create index mails_state on system.mails (state, id);
create index mails_record on system.mails (collection_id, record_id) where record_id is not null;
create index mails_recipient on system.mails (lower(recipient));

-- The same record, for the row that an attempt has to add.
alter table system.mail_queue add column collection_id text collate "C";
alter table system.mail_queue add column record_id text collate "C";
