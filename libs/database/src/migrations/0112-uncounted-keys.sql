-- False for a short-lived key whose requests no rate limit counts.
alter table system.service_keys add column rate_limited boolean not null default true;
