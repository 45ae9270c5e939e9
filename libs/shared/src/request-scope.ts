import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestContext } from './context.ts';

/** Fields that join a log line to its request and, when an admin acts as a user, to that admin (interface §5). */
export const logFields = ({ requestId, traceparent, principal }: RequestContext) => ({
  request_id: requestId,
  trace_id: traceparent.slice(3, 35),
  auth_impersonated_by: principal.type === 'user' ? (principal.impersonatedBy ?? undefined) : undefined,
});

type LogFields = ReturnType<typeof logFields>;

/** What a request began and did not end, such as a connection, outlives it: its lines are not the request's any more. */
interface Scope {
  fields: LogFields | undefined;
}

const scopes = new AsyncLocalStorage<Scope>();

async function inScope<T>(fields: LogFields | undefined, work: () => Promise<T>): Promise<T> {
  const scope = { fields };
  try {
    return await scopes.run(scope, work);
  } finally {
    scope.fields = undefined;
  }
}

/** Does the work of a request: whatever is logged before it ends has the request's fields. */
export const inRequest = <T>(context: RequestContext, work: () => Promise<T>): Promise<T> =>
  inScope(logFields(context), work);

/** Does work that a request caused and that goes on after its answer: what it logs has the request's fields too. */
export const afterRequest = <T>(work: () => Promise<T>): Promise<T> => inScope(scopes.getStore()?.fields, work);

/** The fields of the request in whose work the caller runs; none outside of all. A new object, for the logger to fill. */
export const currentLogFields = (): object => ({ ...scopes.getStore()?.fields });
