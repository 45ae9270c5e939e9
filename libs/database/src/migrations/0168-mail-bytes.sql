-- Deliveries that nobody has attempted, beside any number that wait for another attempt. Claims change neither column.
create index delivery_queue_unattempted on system.delivery_queue (webhook_id) where attempt = 0;

-- How many bytes `mail_contents` and `inbound_mails` have together, as sums over a few rows each: every new mail asks. A
-- transaction adds to a row that no other one holds, and makes another row if there is none, so none waits.
create table system.mail_bytes (
  kind text not null,
  slot bigint generated always as identity,
  bytes bigint not null,
  primary key (kind, slot)
) with (fillfactor = 50);

create function system.count_mail_bytes() returns trigger language plpgsql as $$
declare
  added bigint := (select sum(bytes) from changed);
  free bigint;
begin
  if added is null then
    return null;
  end if;
  if tg_op = 'DELETE' then
    added := -added;
  end if;
  select slot into free from system.mail_bytes where kind = tg_table_name limit 1 for update skip locked;
  if found then
    update system.mail_bytes set bytes = bytes + added where kind = tg_table_name and slot = free;
  else
    insert into system.mail_bytes (kind, bytes) values (tg_table_name, added);
  end if;
  return null;
end
$$;

create trigger mail_contents_added after insert on system.mail_contents
  referencing new table as changed for each statement execute function system.count_mail_bytes();
create trigger mail_contents_removed after delete on system.mail_contents
  referencing old table as changed for each statement execute function system.count_mail_bytes();
create trigger inbound_mails_added after insert on system.inbound_mails
  referencing new table as changed for each statement execute function system.count_mail_bytes();
create trigger inbound_mails_removed after delete on system.inbound_mails
  referencing old table as changed for each statement execute function system.count_mail_bytes();

-- The triggers' locks are held: no mail is counted twice, and none is missing.
insert into system.mail_bytes (kind, bytes)
select 'mail_contents', sum(bytes) from system.mail_contents having count(*) > 0
union all select 'inbound_mails', sum(bytes) from system.inbound_mails having count(*) > 0;
