/** Whether writes of a collection wait for the disk, or only for their commit. */
export const statements: readonly string[] = [
  "alter table system.collections add column durability text not null default 'full' check (durability in ('full', 'relaxed'))",
  // In every round the relay checks whether there is such a collection.
  "create index collections_relaxed on system.collections (id) where durability = 'relaxed'",
];
