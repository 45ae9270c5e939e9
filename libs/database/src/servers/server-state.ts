import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { answerMs, connectProbe } from './connect-probe.ts';

/** The state that a server reports. */
export interface ServerState {
  readonly takesWrites: boolean;
  /** Its history's number, 0 if unknown. A promoted standby has a higher number than the server that it replaces. */
  readonly timeline: number;
  /** Whether the server is behind a pooler, where clients have no sessions of their own. */
  readonly isPooled: boolean;
}

/** Queries one server's state, on a separate connection. */
export interface ServerProbe {
  /** Throws if the server does not answer in time. */
  ask(): Promise<ServerState>;
  close(): Promise<void>;
}

const question = `select pg_backend_pid() as "processId",
  not pg_is_in_recovery() and current_setting('transaction_read_only') = 'off' as "takesWrites"`;

/** A log file's name begins with the timeline, in eight digits. */
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

/** Creates a server's probe. It connects at the first query, and again after a failure. */
export function createServerProbe({ url, name }: ProbeOptions): ServerProbe {
  let text = `${question}, ${timelineOf}`;
  let connected: Promise<pg.Client> | undefined;

  function drop(): void {
    const dropped = connected;
    connected = undefined;
    // Not awaited, since a server that does not answer does not end a connection.
    dropped?.then((client) => client.connection.stream.destroy()).catch(() => {});
  }

  return {
    async ask() {
      try {
        connected ??= connectProbe({ url, name });
        const client = await connected;
        const { rows } = await client.query<Answer>(text).catch((error: unknown) => {
          if (!(error instanceof pg.DatabaseError)) throw error;
          // Some databases that speak PostgreSQL's protocol have no timelines.
          text = question;
          return client.query<Answer>(text);
        });
        const [answer] = rows;
        if (!answer) throw new Error('the server returned no state');
        const { processId, takesWrites, timeline = 0 } = answer;
        return { takesWrites, timeline, isPooled: isPooled(client, processId) };
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

/**
 * Whether a connection leads to a pooler, where clients have no sessions of their own. A pooler reports a process id
 * that is not the server process's (`pg_backend_pid()`).
 */
export const isPooled = (client: pg.Client, serverProcessId: number): boolean => client.processID !== serverProcessId;
