/** Creates the key-value store of extensions. */
export const statements: readonly string[] = [
  `create table system.extension_values (
    extension text collate "C" not null,
    key text collate "C" not null,
    value jsonb not null,
    expires_at timestamptz,
    primary key (extension, key)
  )`,
  'create index extension_values_expiry on system.extension_values (expires_at) where expires_at is not null',
];
