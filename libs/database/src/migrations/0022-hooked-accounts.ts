/** Which accounts have hooks of extensions, as the services know it that do not run them. */
export const statements: readonly string[] = [
  `create table system.hooked_accounts (
    only_row boolean primary key default true check (only_row),
    hooked jsonb not null
  )`,
];
