export type { Bus, NoticeTopic } from './bus.ts';
export { connectBus } from './connect-bus.ts';
export { completeEnvelopes, type DecodedEnvelope, decodeEnvelope, findEnvelope } from './decode-envelope.ts';
export { endWhenSilent } from './end-when-silent.ts';
export type { DurableConsumer } from './ensure-consumer.ts';
export { type EnvelopeExpressions, type EventEnvelope, envelope, envelopeSql } from './envelope.ts';
export { cutMembers } from './envelope-text.ts';
export { findEventNameProblem } from './event-name.ts';
export { createEventReader, type EventReader } from './event-reader.ts';
export {
  clusterReplicas,
  type EventStream,
  ensureEventStream,
  eventStream,
  eventsKeptForMs,
  findEventStream,
} from './event-stream.ts';
export { subjectOf } from './event-subject.ts';
export { addOutboxGauges } from './outbox/outbox-gauges.ts';
export { createOutboxRelay, type OutboxRelay } from './outbox/outbox-relay.ts';
export { problemOf } from './room/room-report.ts';
export { addStreamGauges, checkRoom, createRoomWatch, type RoomWatch } from './room/room-watch.ts';
export { hookConsumerPrefix, webhooksConsumer } from './room/stream-reading.ts';
export { beginStreamLife, lifeOf } from './stream-life.ts';
