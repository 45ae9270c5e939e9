/**
 * Notes whose request caused a mail, and when its turn is (mail §3.2). The previous version of the services adds mails
 * without both; their turn is the time of the request.
 */
export const statements: readonly string[] = [
  `alter table system.mail_queue
    add column client text not null default '',
    add column address text not null default '',
    add column turn_at timestamptz not null default now()`,
  'create index mail_queue_turns on system.mail_queue (turn_at)',
  'create index mail_queue_clients on system.mail_queue (client, turn_at)',
  'create index mail_queue_addresses on system.mail_queue (address, turn_at)',
];
