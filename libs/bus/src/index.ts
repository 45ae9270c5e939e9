export type { Bus, NoticeTopic } from './bus.ts';
export { connectBus } from './connect-bus.ts';
export { type DurableConsumer, ensureConsumer } from './ensure-consumer.ts';
export { type Envelope, type EnvelopeExpressions, envelope, envelopeSql } from './envelope.ts';
export { cutMembers } from './envelope-text.ts';
export { type EventStream, ensureEventStream, eventStream, eventStreamMaxBytes } from './event-stream.ts';
export { subjectOf } from './event-subject.ts';
export { addOutboxGauges } from './outbox/outbox-gauges.ts';
export { createOutboxRelay, type OutboxRelay } from './outbox/outbox-relay.ts';
