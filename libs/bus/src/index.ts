export type { Bus, NoticeTopic } from './bus.ts';
export { connectBus } from './connect-bus.ts';
export { type ConsumerState, getConsumer, listConsumers } from './consumer-state.ts';
export { completeEnvelopes, type DecodedEnvelope, decodeEnvelope, findEnvelope } from './decode-envelope.ts';
export { type EnvelopeExpressions, type EventEnvelope, envelope, envelopeSql } from './envelope.ts';
export { cutMembers } from './envelope-text.ts';
export { createErasedRecords, type ErasedRecords } from './erased-records.ts';
export type { ConsumedMessage, EventMessage } from './event-message.ts';
export { findEventNameProblem } from './event-name.ts';
export {
  clusterReplicas,
  type EventStream,
  ensureEventStream,
  eventStream,
  eventsKeptForMs,
  findEventStream,
  hasJetStream,
} from './event-stream.ts';
export { subjectOf } from './event-subject.ts';
export { addOutboxGauges } from './outbox/outbox-gauges.ts';
export { createOutboxRelay, type OutboxRelay } from './outbox/outbox-relay.ts';
export { problemOf } from './room/room-report.ts';
export { addStreamGauges, checkRoom, createRoomWatch, type RoomWatch } from './room/room-watch.ts';
export { hookConsumerPrefix, webhooksConsumer } from './room/stream-reading.ts';
export { createSharedConsumer, type SharedConsumer } from './shared-consumer.ts';
export { beginStreamLife } from './stream-life.ts';
export { followEvents, readEvents, readEventsSince } from './stream-reader.ts';
export type { StreamState } from './stream-state.ts';
