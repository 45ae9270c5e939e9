import { currentTraceparent } from '@recordbus/process/telemetry';
import type { NamedParameters } from '@recordbus/query';
import type { RequestContext } from '@recordbus/request/context';

/** The place of a write in its batch. */
export interface BatchPlace {
  /** The id of the batch. */
  readonly id: string;
  /** The index of the operation, from 0. */
  readonly index: number;
  /** The number of operations. */
  readonly size: number;
}

/** The actor and request of a write: values of every statement that writes. */
export interface Origin {
  readonly actorType: string;
  readonly actorId: string | null;
  readonly requestId: string | null;
  readonly traceparent: string | null;
  /** The place in the batch, as JSON text; null for a write outside a batch. */
  readonly batch: string | null;
}

/** The request of a write, and the place of the write in a batch of that request. */
export type WriteContext = RequestContext & { readonly batch?: BatchPlace | undefined };

/** The parameters to which parts of a statement add the values of the origin. */
export type OriginParameters = Pick<NamedParameters<Origin>, 'named'>;

/** Returns the origin of the writes of a request. */
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

/** The JSON of the place in events. */
export const textOfPlace = ({ id, index, size }: BatchPlace): string => JSON.stringify({ id, index, size });
