import {
  type Bus,
  type ConsumerState,
  clusterReplicas,
  createRoomWatch,
  eventStream,
  findEventStream,
  hasJetStream,
  listConsumers,
  problemOf,
  type StreamState,
  webhooksConsumer,
} from '@recordbus/bus';
import { messageOf } from '@recordbus/errors';
import { broken, type Finding, fine, skipped, warning } from './finding.ts';

const oldest = [2, 10] as const;
/** How many messages the webhooks service may be behind before doctor warns. */
const warningLag = 10_000;

/** Examines the server, the stream and its consumers. `keptFor` are the consumers that the setting names. */
export async function examineBus(bus: Bus, keptFor: readonly string[]): Promise<Finding[]> {
  try {
    if (!(await hasJetStream(bus))) return [jetStreamOff];
  } catch (error) {
    return [withoutJetStream(error)];
  }
  const version = bus.serverVersion();
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
  const findings = [
    isOld ? broken('NATS', `version ${version}`, 'Use nats-server 2.10 or newer.') : fine('NATS', `version ${version}`),
  ];

  const stream = await findEventStream(bus, eventStream).catch(() => undefined);
  if (!stream)
    return [
      ...findings,
      warning('event stream', `there is no ${eventStream.name} yet`, 'Start the services: they create it.'),
    ];
  const { messages, bytes, maxBytes, replicas, cluster } = stream;
  const says = `${messages} messages, ${mebibytes(bytes)} of ${mebibytes(maxBytes)} MiB, ${replicas} replica${replicas === 1 ? '' : 's'}`;
  findings.push(await examineRoom(bus, keptFor, says));
  if (cluster && !cluster.hasLeader && cluster.servers > 1)
    findings.push(broken('event stream', 'it has no leader', 'Bring the missing cluster servers back.'));
  findings.push(...examineReplicas(stream));
  if (stream.refusesWhenFull)
    findings.push(
      warning(
        'event stream',
        'when full, it refuses new events instead of dropping old ones that were read',
        'Start a records service: it corrects the stream.',
      ),
    );

  for (const consumer of await listConsumers(bus, eventStream)) findings.push(examineConsumer(consumer, replicas));
  return findings;
}

/** Examines whether a consumer is behind, and whether it has its stream's replicas yet. */
function examineConsumer({ name, waiting, inProgress, copies }: ConsumerState, streamReplicas: number): Finding {
  const lag = `${waiting} messages behind, ${inProgress} in progress`;
  if (name === webhooksConsumer && waiting > warningLag)
    return warning(`consumer ${name}`, lag, 'Run more webhooks services, or check their logs for the cause.');
  if (copies !== undefined && copies < streamReplicas)
    return warning(
      `consumer ${name}`,
      `it has ${copies} of ${streamReplicas} replicas: its events wait while its server is down`,
      'Keep all NATS servers running until it has them.',
    );
  return fine(`consumer ${name}`, lag);
}

/** Examines whether the stream survives losing a server. */
function examineReplicas({ replicas, cluster }: StreamState): Finding[] {
  if (!cluster) return [];
  if (replicas < clusterReplicas)
    return [
      warning(
        'event stream',
        `it has ${replicas} of ${clusterReplicas} replicas: events wait while its server is down`,
        'Run three servers and a records service, which adds the replicas within seconds.',
      ),
    ];
  if (cluster.late.length === 0) return [];
  return [
    warning(
      'event stream',
      `its replicas on ${cluster.late.join(', ')} are not up to date`,
      'Bring these servers back.',
    ),
  ];
}

/** Examines whether the stream has room for a day's events. */
async function examineRoom(bus: Bus, keptFor: readonly string[], says: string): Promise<Finding> {
  const watch = createRoomWatch({ bus, stream: eventStream, keptFor: () => keptFor });
  const report = await watch.report();
  const problem = problemOf(report);
  if (problem === undefined) return fine('event stream', says);
  return report.isFull
    ? broken('event stream', problem, 'Start that consumer again, or delete it if it is no longer needed.')
    : warning('event stream', problem, 'Raise SERVICE_EVENTS_MAX_BYTES, or start the consumer that is behind.');
}

const mebibytes = (bytes: number): number => Math.round(bytes / 1024 ** 2);

const jetStreamOff = broken(
  'NATS',
  'JetStream is off',
  'Start nats-server with JetStream (-js, or jetstream {} in its configuration), and enable it for the account.',
);

function withoutJetStream(error: unknown): Finding {
  const reason = messageOf(error);
  return broken(
    'NATS',
    `JetStream does not answer: ${reason}`,
    "Check the nats-server log and the user's permissions.",
  );
}

/** Returns the finding about a bus that does not answer. */
export const busUnreachable = (natsUrl: string | undefined): Finding =>
  natsUrl === undefined
    ? skipped('NATS', 'no server is named: set SERVICE_NATS_URL to check it')
    : broken(
        'NATS',
        'it does not answer',
        'Check the server and SERVICE_NATS_URL. Writes work without it; events wait.',
      );
