/**
 * Stores with an event its record, its actor and its request, to find the events of a record and the deliveries of an
 * event. Earlier events have none of these. Also stores the id of the trace with each request.
 */
export const statements: readonly string[] = [
  `alter table system.events
    add column record_id text collate "C",
    add column version text,
    add column actor_type text,
    add column actor_id text,
    add column request_id text`,
  'create index events_newest on system.events (occurred_at desc, id desc)',
  'create index events_record on system.events (record_id, occurred_at desc, id desc) where record_id is not null',
  // Times of events grow, so entries are added at the end of this index. Ids of events are random.
  'create index deliveries_event on system.deliveries (occurred_at, event_id)',
  'alter table system.requests add column trace_id text',
];
