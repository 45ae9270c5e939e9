-- Mails that came in at /api/v1/mail/inbound, until the extensions' hooks have taken them. The records service adds a row and
-- a job for each extension with such a hook, in one transaction.
create table system.inbound_mails (
  id uuid primary key,
  -- JSON text, encrypted if there is a key: who wrote it, texts, headers, attachments in base64.
  content text not null,
  bytes integer not null,
  received_at timestamptz not null default now()
);

-- What came in already, so that a repeated request adds nothing: the messages, and the tokens that Mailgun signs.
create table system.inbound_mail_keys (
  provider text collate "C" not null,
  key text collate "C" not null,
  added_at timestamptz not null default now(),
  primary key (provider, key)
);
create index inbound_mail_keys_added on system.inbound_mail_keys (added_at);

-- The mail that the job takes to its extension. Null for other jobs.
alter table system.extension_jobs add column mail_id uuid;
create index extension_jobs_mail on system.extension_jobs (mail_id) where mail_id is not null;

-- A mail goes with its last job that is not done, whichever version ends that job. The lock makes two last ones wait for
-- each other, so one of them sees that it is the last.
create function system.drop_inbound_mail() returns trigger language plpgsql as $$
begin
  perform from system.inbound_mails where id = old.mail_id for update;
  delete from system.inbound_mails
  where id = old.mail_id
    and not exists (select from system.extension_jobs where mail_id = old.mail_id and state <> 'done');
  return null;
end
$$;
create trigger extension_job_mail_done after update of state on system.extension_jobs
  for each row when (old.mail_id is not null and new.state = 'done') execute function system.drop_inbound_mail();
create trigger extension_job_mail_removed after delete on system.extension_jobs
  for each row when (old.mail_id is not null) execute function system.drop_inbound_mail();
