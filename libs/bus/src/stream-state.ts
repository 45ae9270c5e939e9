import type { StreamInfo } from '@nats-io/jetstream';

/** The stream's state at one moment. */
export interface StreamState {
  /** Names the stream's life (stream-life.ts). */
  readonly life: number;
  readonly createdAt: Date;
  readonly maxBytes: number;
  readonly bytes: number;
  readonly messages: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** When its oldest message was stored; undefined when it is empty. */
  readonly oldestAt: Date | undefined;
  /** How many servers are to have it. */
  readonly replicas: number;
  /** Whether it refuses events when it is full, as an early release made it. */
  readonly refusesWhenFull: boolean;
  /** Undefined for a server alone. */
  readonly cluster: StreamCluster | undefined;
  /** The server's time; undefined before NATS 2.10. */
  readonly serverTime: Date | undefined;
}

/** A stream's servers in a cluster. */
interface StreamCluster {
  readonly hasLeader: boolean;
  readonly servers: number;
  /** Those that are down or not up to date, by name. */
  readonly late: readonly string[];
}

/** The member of the stream's metadata with the time at which its current life began. */
export const lifeMember = 'recordbus.life';

/**
 * Names a stream's life by the time at which it began, in milliseconds. Within a life no sequence number is used twice.
 * A new one begins when the stream is created, and when it has lost its last messages.
 */
export const lifeOf = ({ created, config }: Pick<StreamInfo, 'created' | 'config'>): number =>
  Math.max(Date.parse(created), Number(config.metadata?.[lifeMember] ?? 0) || 0);

/** Reads the server's answer about a stream. */
export function streamStateOf(info: StreamInfo): StreamState {
  const { config, state, created, cluster } = info;
  const replicas = cluster?.replicas ?? [];
  return {
    life: lifeOf(info),
    createdAt: new Date(created),
    maxBytes: config.max_bytes,
    bytes: state.bytes,
    messages: state.messages,
    firstSequence: state.first_seq,
    lastSequence: state.last_seq,
    oldestAt: state.messages > 0 ? new Date(state.first_ts) : undefined,
    replicas: config.num_replicas,
    refusesWhenFull: config.discard !== 'old',
    cluster:
      cluster?.name === undefined
        ? undefined
        : {
            hasLeader: cluster.leader !== undefined,
            servers: 1 + replicas.length,
            late: replicas.filter(({ current, offline }) => !current || offline).map(({ name }) => name),
          },
    serverTime: 'ts' in info ? new Date(String(info.ts)) : undefined,
  };
}
