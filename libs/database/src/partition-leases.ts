import type { Database } from './database.ts';
import { newId } from './id.ts';

/**
 * Leases for work that is divided into partitions. Each process takes its fair share. The leases, and the membership of
 * each process that renews, are rows in `system.leases`.
 */
export interface PartitionLeases {
  /** The name of this process's membership. */
  readonly member: string;
  /** How many processes share the work, as counted at the last renewal. */
  readonly members: number;
  /** The partitions that this process now holds, by its monotonic clock. Does not use the database. */
  readonly held: readonly number[];
  /**
   * Renews the leases for its share, takes free ones, and gives up those beyond. Returns the partitions that it took.
   */
  renew(): Promise<readonly number[]>;
  /** Releases all leases. */
  release(): Promise<void>;
}

interface PartitionLeasesOptions {
  readonly name: string;
  readonly partitions: number;
  readonly lifetimeMs: number;
}

/** How long before the leases end in the database their holder stops, in milliseconds. */
const marginMs = 500;

/**
 * Takes a fair share of the partitions: first those that the process holds, then free ones. If two processes take the
 * same partition, the conflict clause decides. All processes insert in the same order, so no two wait for each other.
 */
const takeShare = `with member as (
    insert into system.leases as lease (name, holder, expires_at)
    values ($1, $2, clock_timestamp() + make_interval(secs => $3))
    on conflict (name) do update set expires_at = excluded.expires_at
  ), removed as (
    delete from system.leases where starts_with(name, $4) and expires_at < clock_timestamp() - interval '1 hour' and name <> $1
  ), others as (
    select count(*)::integer as count from system.leases
    where starts_with(name, $4) and name <> $1 and expires_at > clock_timestamp()
  ), released as (
    delete from system.leases where name = any($7::text[]) and holder = $2
  ), share as (
    select given.name from unnest($5::text[]) with ordinality as given (name, place)
    left join system.leases l on l.name = given.name
    where given.name <> all($7::text[])
      and (l.name is null or l.expires_at <= clock_timestamp() or (l.holder = $2 and l.name = any($6::text[])))
    order by given.name = any($6::text[]) desc, given.place
    limit (select ceil(cardinality($5::text[])::numeric / (1 + count))::bigint from others)
  ), taken as (
    insert into system.leases as lease (name, holder, expires_at)
    select name, $2, clock_timestamp() + make_interval(secs => $3) from share order by name
    on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
    where lease.holder = excluded.holder or lease.expires_at <= clock_timestamp()
    returning name
  )
  select (select array_agg(name) from taken) as names, 1 + count as members from others`;

/**
 * Creates the leases; this process holds none yet. They expire by the database's clock. The holder measures from before
 * its request, so it stops before a successor starts, even if it was frozen. A partition that it gives up is released a
 * renewal later, when its work has ended.
 */
export function createPartitionLeases(
  database: Database,
  { name, partitions, lifetimeMs }: PartitionLeasesOptions,
): PartitionLeases {
  const holder = newId();
  const memberPrefix = `${name} member `;
  const member = `${memberPrefix}${holder}`;
  const nameOf = (partition: number): string => `${name} ${partition} of ${partitions}`;
  const all = Array.from({ length: partitions }, (_, partition) => partition);
  const numbers = new Map(all.map((partition) => [nameOf(partition), partition]));
  let members = 1;
  let leased: readonly number[] = [];
  let givenUp: readonly number[] = [];
  let deadlineMs = Number.NEGATIVE_INFINITY;
  const held = () => (performance.now() < deadlineMs ? leased : []);
  return {
    member,
    get members() {
      return members;
    },
    get held() {
      return held();
    },
    async renew() {
      const askedAtMs = performance.now();
      const heldBefore = held();
      const [row] = await database.query<{ names: string[] | null; members: number }>({
        name: 'lease.take-share',
        text: takeShare,
        values: [
          member,
          holder,
          lifetimeMs / 1000,
          memberPrefix,
          all.map(nameOf),
          heldBefore.map(nameOf),
          givenUp.map(nameOf),
        ],
      });
      leased = (row?.names ?? []).flatMap((taken) => numbers.get(taken) ?? []);
      members = row?.members ?? 1;
      deadlineMs = askedAtMs + lifetimeMs - marginMs;
      givenUp = heldBefore.filter((partition) => !leased.includes(partition));
      return held().filter((partition) => !heldBefore.includes(partition));
    },
    async release() {
      deadlineMs = Number.NEGATIVE_INFINITY;
      await database.query({
        text: 'delete from system.leases where holder = $1 and starts_with(name, $2)',
        values: [holder, name],
      });
    },
  };
}
