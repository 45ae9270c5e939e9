/** Creates a text encrypted with the key of the first data directory, so that no other start makes another key. */
export const statements: readonly string[] = [
  'create table system.key_check (is_only boolean primary key default true check (is_only), sealed text not null)',
];
