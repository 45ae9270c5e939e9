/** Creates the request log, partitioned by day (UTC), so that old rows are removed by dropping a day. */
export const statements: readonly string[] = [
  `create table system.requests (
    id uuid not null,
    at bigint not null,
    method text not null,
    path text not null,
    status integer not null,
    duration_ms double precision not null,
    ip text,
    user_agent text,
    principal_type text not null,
    principal_id text,
    auth_impersonated_by text,
    request_id text not null
  ) partition by range (at)`,
  // Every index costs each request. Columns without an index are searched in the kept days. Ids of requests are random,
  // and a BRIN filter for every few pages costs a tenth of a B-tree of all ids.
  'create index requests_newest on system.requests (at desc, id desc)',
  'create index requests_request on system.requests using brin (request_id text_bloom_ops) with (autosummarize = on)',
  `create index requests_impersonated on system.requests (auth_impersonated_by, at desc, id desc)
    where auth_impersonated_by is not null`,

  // Attaching does not lock readers and writers of other days; creating a partition in place would.
  `create function system.ensure_request_day(day date) returns void language plpgsql as $$
    declare
      partition text := format('requests_%s', to_char(day, 'YYYYMMDD'));
      starts_at bigint := extract(epoch from day::timestamp at time zone 'UTC');
    begin
      if to_regclass('system.' || partition) is not null then
        return;
      end if;
      perform pg_advisory_xact_lock(hashtext('recordbus.request_days'));
      if to_regclass('system.' || partition) is null then
        execute format('create table system.%I (like system.requests including defaults including constraints)', partition);
        execute format(
          'alter table system.requests attach partition system.%I for values from (%s) to (%s)',
          partition, starts_at, starts_at + 86400
        );
      end if;
    end
  $$`,
  // Returns whether it did: another replica may be doing it.
  `create function system.drop_request_day(day date) returns boolean language plpgsql set lock_timeout to '2s' as $$
    begin
      if not pg_try_advisory_xact_lock(hashtext('recordbus.request_days')) then
        return false;
      end if;
      execute format('drop table if exists system.%I', format('requests_%s', to_char(day, 'YYYYMMDD')));
      return true;
    end
  $$`,
];
