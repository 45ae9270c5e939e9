/** Creates the shared counters of gateways. Unlogged: they are lost in a crash, and counting starts again. */
export const statements: readonly string[] = [
  `create unlogged table system.rate_windows (
      key text collate "C" primary key,
      ends_at_ms bigint not null,
      used bigint not null
    )`,
];
