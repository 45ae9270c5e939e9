-- A mail's attempts: when each was, and what the mail server said, as `[{"at": <unix seconds>, "error": <text or null>}]`. At most
-- the last 100. The auth service adds one with each attempt.
alter table system.mails add column attempt_log jsonb not null default '[]';
