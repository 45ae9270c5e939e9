import { setTimeout } from 'node:timers/promises';
import { messageOf } from '@recordbus/errors';
import type { Logger } from '@recordbus/process/logging';
import { createOpeners, type ReadLanes } from '../connections/openers.ts';
import type { SessionSettings } from '../connections/session-settings.ts';
import type { WorkHooks, WorkPlaces } from '../connections/work-places.ts';
import { replicaPosition } from '../driver/preludes.ts';

/** Connections to a server on which client reads start. */
export interface ReadConnections extends Pick<ReadLanes, 'gets' | 'pages' | 'quick'> {
  readonly short: Pick<WorkPlaces, 'query'>;
}

/** A standby that serves reads. */
export interface ReadReplica extends ReadConnections {
  /** Its host and port. */
  readonly address: string;
  /** The position up to which it had the primary's log at its last answer; undefined while it cannot be used. */
  readonly position: number | undefined;
  /** Why it cannot be used; undefined while it can. */
  readonly problem: string | undefined;
  /** Queries its position. Calls during a query share its answer. Never rejects. */
  look(timeline: number): Promise<void>;
  /** Stores the position that it had at a read; undefined if it does not follow the primary. */
  note(position: number | undefined): void;
  /** Notes that it did not answer a read. It is not used until it answers `look`. */
  noteFailure(error: unknown): void;
  close(): Promise<void>;
}

interface ReadReplicaOptions {
  readonly url: string;
  /** Shown by PostgreSQL as application_name. */
  readonly name: string;
  readonly log: Logger;
  /** The settings for client reads. */
  readonly settings: SessionSettings;
  /** Called with each short read's time. */
  readonly onRan: NonNullable<WorkHooks['onRan']>;
}

/** How long it may be silent, and a connect may take, in milliseconds. Its reads take at most half as long. */
const silenceMs = 1000;

const notFollowing = 'it does not follow the primary';

/** Creates a read replica. Its connections open when needed. */
export function createReadReplica({ url, name, log, settings, onRan }: ReadReplicaOptions): ReadReplica {
  const { hostname, port } = new URL(url);
  const address = `${hostname}:${port || 5432}`;
  const openers = createOpeners({ name, log, server: url, silenceMs, connectMs: silenceMs });
  const lanes = openers.lanes(settings);
  const shapedReads = openers.pool('shapedReads', settings);
  const health = openers.pool('health');
  const asking = health.placesOf('health');
  let position: number | undefined;
  let problem: string | undefined = 'it has not answered yet';
  let looking: Promise<void> | undefined;

  function stand(found: number | undefined, problemNow: string | undefined): void {
    if (problemNow !== problem) {
      if (problemNow === undefined) log.info({ address }, 'a read replica can be used');
      else log.warn({ address, reason: problemNow }, 'a read replica cannot be used');
    }
    position = found;
    problem = problemNow;
  }
  const note = (found: number | undefined): void => stand(found, found === undefined ? notFollowing : undefined);
  const noteFailure = (error: unknown): void => stand(undefined, messageOf(error));

  async function lookOnce(timeline: number): Promise<void> {
    try {
      const [row] = await asking.query<{ position: number | null }>(replicaPosition(timeline));
      note(row?.position ?? undefined);
    } catch (error) {
      noteFailure(error);
    }
  }

  return {
    ...lanes,
    short: shapedReads.placesOf('shortReads', { onRan }),
    address,
    get position() {
      return position;
    },
    get problem() {
      return problem;
    },
    look(timeline) {
      looking ??= lookOnce(timeline).finally(() => {
        looking = undefined;
      });
      return looking;
    },
    note,
    noteFailure,
    async close() {
      const closed = Promise.all([lanes, shapedReads, health].map((one) => one.close()));
      await Promise.race([closed, setTimeout(silenceMs, undefined, { ref: false })]);
    },
  };
}
