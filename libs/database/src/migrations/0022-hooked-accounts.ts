/** Creates the list of auth collections with hooks, for services that do not run hooks. */
export const statements: readonly string[] = [
  `create table system.hooked_accounts (
    only_row boolean primary key default true check (only_row),
    hooked jsonb not null
  )`,
];
