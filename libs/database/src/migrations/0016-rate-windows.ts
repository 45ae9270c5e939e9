/** What gateways count together. Unlogged: it is gone after a crash, and counting begins anew. */
export const statements: readonly string[] = [
  `create unlogged table system.rate_windows (
      key text collate "C" primary key,
      ends_at_ms bigint not null,
      used bigint not null
    )`,
];
