/** What the writes of a collection wait for: the disk, or only their commit. */
export const statements: readonly string[] = [
  "alter table system.collections add column durability text not null default 'full' check (durability in ('full', 'relaxed'))",
];
