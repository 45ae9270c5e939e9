import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { answerMs, connectProbe } from './connect-probe.ts';

/** What a server says about itself. */
export interface ServerState {
  readonly takesWrites: boolean;
  /** The number of its history: a promoted standby has a higher one than the server that it replaces. 0 if unknown. */
  readonly timeline: number;
  /** Whether a pooler is between: then a session is not the client's own. */
  readonly isPooled: boolean;
}

/** Asks one server about itself, on a connection of its own. */
export interface ServerProbe {
  /** Throws when the server does not answer in time. */
  ask(): Promise<ServerState>;
  close(): Promise<void>;
}

/** A pooler gives a connection another process id than that of the server's process. */
const question = `select pg_backend_pid() as "processId",
  not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' as "takesWrites"`;

/** The first eight digits of the name of a file of the log are the timeline. */
const timelineOf = `case when pg_is_in_recovery() then 0
  else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer end as timeline`;

interface Answer {
  readonly processId: number;
  readonly takesWrites: boolean;
  readonly timeline?: number;
}

interface ProbeOptions {
  readonly url: string;
  /** Shown by PostgreSQL as application_name. */
  readonly name: string;
}

/** Creates the probe of a server. It connects when it asks, and again after a failure. */
export function createServerProbe({ url, name }: ProbeOptions): ServerProbe {
  let text = `${question}, ${timelineOf}`;
  let connected: Promise<pg.Client> | undefined;

  function drop(): void {
    const dropped = connected;
    connected = undefined;
    // Not awaited: a server that does not answer does not end a connection.
    dropped?.then((client) => client.connection.stream.destroy()).catch(() => {});
  }

  return {
    async ask() {
      try {
        connected ??= connectProbe({ url, name });
        const client: pg.Client & { readonly processID?: number | null } = await connected;
        const { rows } = await client.query<Answer>(text).catch((error: unknown) => {
          if (!(error instanceof pg.DatabaseError)) throw error;
          // Not every service that speaks the protocol of PostgreSQL has timelines.
          text = question;
          return client.query<Answer>(text);
        });
        const [answer] = rows;
        if (!answer) throw new Error('the server said nothing about itself');
        const { processId, takesWrites, timeline = 0 } = answer;
        return { takesWrites, timeline, isPooled: client.processID !== processId };
      } catch (error) {
        drop();
        throw error;
      }
    },
    async close() {
      const closed = await connected?.catch(() => undefined);
      connected = undefined;
      if (closed) await Promise.race([closed.end(), setTimeout(answerMs, undefined, { ref: false })]);
    },
  };
}
