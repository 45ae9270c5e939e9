import { currentTraceparent } from '@recordbus/process/telemetry';
import type { NamedParameters } from '@recordbus/query';
import type { RequestContext } from '@recordbus/request/context';

/** A write's place in its batch. */
export interface BatchPlace {
  readonly id: string;
  /** The operation's index, from 0. */
  readonly index: number;
  /** How many operations the batch has. */
  readonly size: number;
}

/** A write's actor and request. Every statement that writes takes these values. */
export interface Origin {
  readonly actorType: string;
  readonly actorId: string | null;
  readonly requestId: string | null;
  readonly traceparent: string | null;
  /** The place in the batch, as JSON text; null for a write outside a batch. */
  readonly batch: string | null;
}

/** A write's request, and the write's place in that request's batch. */
export type WriteContext = RequestContext & { readonly batch?: BatchPlace | undefined };

/** The parameters to which a statement's parts add the origin's values. */
export type OriginParameters = Pick<NamedParameters<Origin>, 'named'>;

/** Returns the origin for a request's writes. */
export function originOf({ principal, requestId, traceparent, batch }: WriteContext): Origin {
  const actorId = principal.type === 'guest' ? null : principal.id;
  return {
    actorType: principal.type,
    actorId,
    requestId,
    traceparent: currentTraceparent(traceparent) ?? null,
    batch: batch ? textOfPlace(batch) : null,
  };
}

/** The place's JSON in events. */
export const textOfPlace = ({ id, index, size }: BatchPlace): string => JSON.stringify({ id, index, size });
