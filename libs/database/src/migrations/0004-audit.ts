/** Creates the audit log: one row for each audited action (admins §6). */
export const statements: readonly string[] = [
  // No foreign key: a row outlives its actor and its target.
  `create table system.audit (
    id text collate "C" primary key,
    at bigint not null,
    action text not null,
    actor_type text not null check (actor_type in ('user', 'admin', 'guest')),
    actor_id text,
    impersonated_by text,
    target_type text,
    target_id text,
    ip text,
    user_agent text,
    details jsonb not null default '{}',
    check ((actor_type = 'guest') = (actor_id is null))
  )`,
  'create index audit_newest on system.audit (at desc, id desc)',
  'create index audit_action on system.audit (action, at desc, id desc)',
  'create index audit_actor on system.audit (actor_id, at desc, id desc) where actor_id is not null',
];
