-- What mails of extensions say, while they wait: one row for all recipients of a mail, in the transaction that queues it.
create table system.mail_contents (
  id uuid primary key,
  -- JSON text, encrypted if there is a key: subject, bodies, addresses, headers, attachments in base64.
  content text not null,
  bytes integer not null,
  created_at timestamptz not null default now()
);

-- Null for mails of the product's templates, which have variables instead.
alter table system.mail_queue add column content_id uuid references system.mail_contents (id);
create index mail_queue_contents on system.mail_queue (content_id) where content_id is not null;

-- The content goes with its last recipient, whichever version ends that mail. The lock makes two last ones wait for each
-- other, so one of them sees that it is the last.
create function system.drop_mail_content() returns trigger language plpgsql as $$
begin
  perform from system.mail_contents where id = old.content_id for update;
  delete from system.mail_contents
  where id = old.content_id and not exists (select from system.mail_queue where content_id = old.content_id);
  return null;
end
$$;
create trigger mail_queue_content after delete on system.mail_queue
  for each row when (old.content_id is not null) execute function system.drop_mail_content();
