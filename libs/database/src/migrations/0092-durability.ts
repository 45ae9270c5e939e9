/** What the writes of a collection wait for: the disk, or only their commit. */
export const statements: readonly string[] = [
  "alter table system.collections add column durability text not null default 'full' check (durability in ('full', 'relaxed'))",
  // The relay looks in every round whether there is one.
  "create index collections_relaxed on system.collections (id) where durability = 'relaxed'",
];
