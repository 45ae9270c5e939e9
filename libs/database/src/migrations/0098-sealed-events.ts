/**
 * Keeps the encrypted values of a record with its event, as they are stored. Events leave them out, but live readers who may
 * see them get every version (services/records/src/live). NULL for collections without encrypted fields.
 */
export const statements: readonly string[] = [
  'alter table system.outbox add column sealed text',
  'create index outbox_sealed on system.outbox (event_id) where sealed is not null',
];
