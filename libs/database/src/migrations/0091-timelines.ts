/**
 * The timelines that the primary has had. A read replica that lacks the newest one follows a server that is no longer
 * the primary.
 */
export const statements: readonly string[] = [
  `create table system.timelines (
    timeline integer primary key,
    seen_at timestamptz not null default clock_timestamp()
  )`,
];
