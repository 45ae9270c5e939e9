/** Mail on its way out. */
export const statements: readonly string[] = [
  // Only what is still to be sent: the variables of a mail hold live tokens and codes, so its row goes with it.
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
