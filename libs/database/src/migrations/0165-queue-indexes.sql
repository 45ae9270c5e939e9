-- Indexes for what queues ask often, so that no such question reads a whole table.

-- Parked events, for their metric. The outbox holds all events of the last ten minutes.
create index outbox_parked on system.outbox (id) where parked_at is not null;
create index large_events_age on system.large_events (created_at);

-- A cron's run in progress, beside weeks of ended ones.
create index cron_runs_running on system.cron_runs (cron) where status = 'running';

-- When an actor's last import began.
create index jobs_actor on system.jobs ((actor->>'id'), started_at);

-- Mails that are too late, and the mail log's old rows.
create index mail_queue_expiry on system.mail_queue (expires_at);
create index mails_finished on system.mails (finished_at) where finished_at is not null;
