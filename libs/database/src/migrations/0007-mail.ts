/** Creates the queue of mails. */
export const statements: readonly string[] = [
  // Only unsent mails: the variables of a mail have valid tokens and codes, so its row is deleted when it is sent.
  `create table system.mail_queue (
    id uuid primary key default system.new_id(),
    template text not null,
    recipient text not null,
    variables jsonb not null,
    expires_at timestamptz not null,
    created_at timestamptz not null default now(),
    attempts integer not null default 0,
    next_attempt_at timestamptz not null default now(),
    lease_until timestamptz,
    lease_token uuid
  )`,
  'create index mail_queue_due on system.mail_queue (next_attempt_at)',
];
