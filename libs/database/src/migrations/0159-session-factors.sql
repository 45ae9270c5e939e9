-- The factors with which a session was signed in (auth §6.9); null for a session without a sign-in, or of an earlier version.
alter table system.sessions add column factors text[];
