import { JetStreamApiError } from '@nats-io/jetstream';
import { errors, headers, type MsgHdrs } from '@nats-io/transport-node';
import { AppError } from '@recordbus/shared/errors';
import { currentTraceparent, inSpan } from '@recordbus/shared/telemetry';
import type { Bus } from '../bus.ts';
import { subjectOf } from '../event-subject.ts';
import type { OutboxRow } from './outbox-store.ts';

/**
 * Publishes one event and waits until the stream has stored it; the server drops a second message with the same event
 * id. Returns the event's sequence number in the stream.
 */
export function publishEvent(bus: Bus, prefix: string, row: OutboxRow, body: Uint8Array | string) {
  const subject = subjectOf(row.event, prefix);
  const traceparent = row.traceparent ?? undefined;
  return inSpan(
    `publish ${row.event}`,
    { kind: 'PRODUCER', traceparent, attributes: { 'messaging.system': 'nats' } },
    () => bus.publishToStream(subject, body, eventHeaders(row)),
  );
}

/**
 * Returns the headers of an event's message: the product's own, and those of the CloudEvents NATS binding, binary mode.
 */
export function eventHeaders(row: OutboxRow): MsgHdrs {
  const all = headers();
  const name = headerText(row.event);
  // The server's own header, by which it finds duplicates.
  all.append('Nats-Msg-Id', row.event_id);
  all.append('Service-Event-Version', '1');
  all.append('Service-Event', name);
  all.append('ce-specversion', '1.0');
  all.append('ce-id', row.event_id);
  all.append('ce-type', name);
  all.append('ce-source', '/recordbus');
  all.append('ce-time', row.occurred_at);
  if (row.record_key) all.append('ce-subject', headerText(row.record_key));
  all.append('ce-datacontenttype', 'application/json');
  if (row.traceparent) all.append('traceparent', currentTraceparent(row.traceparent));
  return all;
}

/** Percent-encodes what a header cannot carry (CloudEvents NATS binding §3.2.3.1). */
const headerText = (text: string) => text.replace(/[^\x21\x23\x24\x26-\x7e]+/g, encodeURIComponent);

/** Whether the bus failed, and not this event, so that nothing can be published now. */
export function isBusFailure(error: unknown): boolean {
  if (error instanceof JetStreamApiError) return error.status >= 500 || error.status === 404 || error.status === 429;
  return (
    error instanceof errors.TimeoutError ||
    error instanceof errors.RequestError ||
    error instanceof errors.NoRespondersError ||
    error instanceof errors.ConnectionError ||
    error instanceof errors.ClosedConnectionError ||
    error instanceof errors.DrainingConnectionError ||
    error instanceof errors.PermissionViolationError ||
    (error instanceof AppError && error.status === 503)
  );
}
