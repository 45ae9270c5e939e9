import { type Bus, eventStream } from '@recordbus/bus';
import { broken, type Finding, fine, skipped, warning } from './finding.ts';

const oldest = [2, 10] as const;
/** Messages that the webhooks service may be behind by before it is worth a word. */
const muchLag = 10_000;

/** The server, the stream and who reads it. */
export async function examineBus(bus: Bus): Promise<Finding[]> {
  const manager = await bus.jetstreamManager();
  try {
    await manager.getAccountInfo();
  } catch (error) {
    return [withoutJetStream(error)];
  }
  const version = bus.serverVersion();
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < oldest[0] || (major === oldest[0] && minor < oldest[1]);
  const findings = [
    isOld ? broken('NATS', `version ${version}`, 'Use nats-server 2.10 or newer.') : fine('NATS', `version ${version}`),
  ];

  const stream = await manager.streams.info(eventStream.name).catch(() => undefined);
  if (!stream)
    return [
      ...findings,
      warning('event stream', `there is no ${eventStream.name} yet`, 'Start the services: they make it.'),
    ];
  const { config, state, cluster } = stream;
  const full = state.bytes / config.max_bytes;
  const says = `${state.messages} messages, ${Math.round(state.bytes / 1048576)} of ${Math.round(config.max_bytes / 1048576)} MiB, ${config.num_replicas} replica${config.num_replicas === 1 ? '' : 's'}`;
  if (full > 0.95)
    findings.push(
      broken('event stream', `${says}: full, events wait in the outbox`, 'Raise SERVICE_EVENTS_MAX_BYTES.'),
    );
  else if (full > 0.8)
    findings.push(warning('event stream', `${says}: nearly full`, 'Raise SERVICE_EVENTS_MAX_BYTES.'));
  else findings.push(fine('event stream', says));
  const servers = 1 + (cluster?.replicas?.length ?? 0);
  if (cluster?.leader === undefined && servers > 1)
    findings.push(broken('event stream', 'it has no leader', 'Bring the missing servers of the cluster back.'));
  if (config.discard !== 'new' || !config.deny_delete || !config.deny_purge)
    findings.push(
      warning('event stream', 'it may drop events that nobody has read', 'Start a records service: it sets it right.'),
    );

  for await (const { name, num_pending, num_ack_pending } of manager.consumers.list(eventStream.name)) {
    const lag = `${num_pending} messages behind, ${num_ack_pending} under way`;
    findings.push(
      name === 'webhooks' && num_pending > muchLag
        ? warning(`consumer ${name}`, lag, 'Run more webhooks services, or see in their log why they do not get on.')
        : fine(`consumer ${name}`, lag),
    );
  }
  return findings;
}

function withoutJetStream(error: unknown): Finding {
  // The client does not export the error's class.
  if (error instanceof Error && error.name === 'JetStreamNotEnabled')
    return broken(
      'NATS',
      'JetStream is off',
      'Start nats-server with JetStream (-js, or jetstream {} in its configuration), and enable it for the account.',
    );
  const reason = error instanceof Error ? error.message : String(error);
  return broken(
    'NATS',
    `JetStream does not answer: ${reason}`,
    'Look at the log of nats-server and at the rights of the user.',
  );
}

/** What is said of a bus that is not there. */
export const busIsAway = (natsUrl: string | undefined): Finding =>
  natsUrl === undefined
    ? skipped('NATS', 'no server is named: set SERVICE_NATS_URL to look at it too')
    : broken(
        'NATS',
        'it does not answer',
        'Look at the server and at SERVICE_NATS_URL; writes go on without it, events wait.',
      );
