import { type Database, locks, takeLock } from '@recordbus/database';
import type { EventStream } from '../event-stream.ts';

/**
 * The bytes that each relay may publish before it checks the stream again. A stream's relays divide its room, so
 * together they drop no message that a reader still needs.
 */
export interface RoomGrants {
  /**
   * Replaces this relay's grant. Calls `measure` with the bytes that other relays may still publish, while no other
   * relay changes its grant, and grants the bytes that it returns.
   */
  replace<T>(measure: (others: OtherRelays) => Promise<Measured<T>>): Promise<T>;
}

interface OtherRelays {
  /** How many relays share the stream, this one included. */
  readonly relays: number;
  /** The bytes that the others may publish. */
  readonly grantedBytes: number;
}

interface Measured<T> {
  readonly bytes: number;
  readonly result: T;
}

interface RoomGrantsOptions {
  readonly database: Database;
  readonly stream: EventStream;
  /** The lease for this relay's membership: its grant counts for the others until it expires. */
  readonly member: string;
  /** Returns how many relays there are now. */
  readonly relays: () => number;
}

/** For a process that only measures and publishes nothing. */
export const noGrants: RoomGrants = {
  replace: async (measure) => (await measure({ relays: 1, grantedBytes: 0 })).result,
};

/** Creates a relay's grants. They are rows in `system.room_grants`. */
export const createRoomGrants = ({ database, stream, member, relays }: RoomGrantsOptions): RoomGrants => ({
  replace: (measure) =>
    database.transaction(async (query) => {
      await takeLock(query, locks.room, stream.name);
      const [others] = await query<{ bytes: number }>({
        text: `select coalesce(sum(g.bytes), 0)::double precision as bytes from system.room_grants g
          join system.leases l on l.name = g.member and l.expires_at > clock_timestamp()
          where g.stream = $1 and g.member <> $2`,
        values: [stream.name, member],
      });
      const { bytes, result } = await measure({ relays: relays(), grantedBytes: others?.bytes ?? 0 });
      await query({
        text: `with gone as (
            delete from system.room_grants g
            where g.stream = $1 and g.member <> $2 and not exists (select from system.leases l where l.name = g.member)
          )
          insert into system.room_grants (stream, member, bytes) values ($1, $2, $3)
          on conflict (stream, member) do update set bytes = excluded.bytes`,
        values: [stream.name, member, Math.max(0, Math.floor(bytes))],
      });
      return result;
    }),
});
