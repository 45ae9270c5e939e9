import type { NamedParameters } from '@recordbus/query';
import type { RequestContext } from '@recordbus/shared/context';
import { currentTraceparent } from '@recordbus/shared/telemetry';

/** The actor and request of a write: values of every statement that writes. */
export interface Origin {
  readonly actorType: string;
  readonly actorId: string | null;
  readonly requestId: string | null;
  readonly traceparent: string | null;
}

/** The parameters to which parts of a statement add the values of the origin. */
export type OriginParameters = Pick<NamedParameters<Origin>, 'named'>;

/** Returns the origin of the writes of a request. */
export function originOf({ principal, requestId, traceparent }: RequestContext): Origin {
  const actorId = principal.type === 'guest' ? null : principal.id;
  return { actorType: principal.type, actorId, requestId, traceparent: currentTraceparent(traceparent) ?? null };
}
