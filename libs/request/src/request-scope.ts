import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { type Caller, type CallerRank, namedCaller, ownCaller } from '@recordbus/limits/fair-gate';
import { clientKey } from './client-key.ts';
import type { Consistency } from './consistency.ts';
import type { RequestContext } from './context.ts';

/** Fields that link a log line to its request and, when an admin acts as a user, to that admin (admins §5.4). */
export const logFields = ({ requestId, traceparent, principal }: RequestContext) => ({
  request_id: requestId,
  trace_id: traceparent.slice(3, 35),
  auth_impersonated_by: principal.type === 'user' ? (principal.impersonatedBy ?? undefined) : undefined,
});

type LogFields = ReturnType<typeof logFields>;

/** The scope of a request. Work that outlives it, such as a connection, no longer logs with its fields. */
interface Scope {
  /** Computed at first use from a request's context. */
  fields: LogFields | undefined;
  isOver: boolean;
  /** When it was over, by `performance.now()`; 0 before. */
  endedAtMs: number;
  /** Fails the request, or ends the connection, for an error that nothing caught. */
  readonly fail: (error: unknown) => void;
  /** Undefined for the product's own work. */
  readonly context: RequestContext | undefined;
  /** The context's caller, computed at first use. */
  caller: Caller | undefined;
  /** The answer; undefined for work without one. */
  readonly response: ServerResponse | undefined;
  /** Releases what is held until the answer is sent. */
  release: (() => void) | undefined;
  /** Finds a database state that includes the request's writes. */
  findWritten: FindConsistency | undefined;
}

type FindConsistency = () => Promise<Consistency>;

const scopes = new AsyncLocalStorage<Scope>();

const nothingToFail = (): void => {};

const newScope = (given: Partial<Scope>): Scope => ({
  fields: given.fields,
  isOver: false,
  endedAtMs: 0,
  fail: given.fail ?? nothingToFail,
  context: given.context,
  caller: given.caller,
  response: given.response,
  release: undefined,
  findWritten: undefined,
});

async function inScope<T>(scope: Scope, work: () => Promise<T>): Promise<T> {
  try {
    return await scopes.run(scope, work);
  } finally {
    scope.isOver = true;
    scope.endedAtMs = performance.now();
  }
}

function currentFields(): LogFields | undefined {
  const scope = scopes.getStore();
  if (!scope || scope.isOver) return undefined;
  if (scope.context) scope.fields ??= logFields(scope.context);
  return scope.fields;
}

/**
 * Runs a request's work. Its log lines have the request's fields. `fail` answers it, or cuts its connection, when one
 * of its callbacks throws.
 */
export const inRequest = <T>(
  context: RequestContext,
  work: () => Promise<T>,
  { response, fail }: Partial<Pick<Scope, 'response' | 'fail'>> = {},
): Promise<T> => inScope(newScope({ context, response, fail }), work);

/** Runs work that a request caused and that outlives its answer. Its log lines have the request's fields too. */
export const afterRequest = <T>(work: () => Promise<T>): Promise<T> =>
  inScope(newScope({ fields: currentFields() }), work);

/** Runs work for a client without a request, such as for a connection that stays open. */
export const asClient = <T>(client: string, work: () => Promise<T>): Promise<T> =>
  inScope(newScope({ caller: namedCaller(client) }), work);

/**
 * Guards a callback that an emitter calls with the bytes of a client or another outside peer: parsers and sockets call
 * outside the request. What it throws fails the request in which it was guarded, and ends no process.
 */
export function guarded<T, A extends readonly unknown[]>(
  callback: (this: T, ...args: A) => void,
): (this: T, ...args: A) => void {
  const scope = scopes.getStore();
  return function call(...args) {
    try {
      callback.apply(this, args as A & unknown[]);
    } catch (error) {
      throwLater(error, scope ?? newScope({}));
    }
  };
}

/**
 * Returns `guarded` for the callbacks of a connection that outlives its request. What they throw, at once or later, calls
 * `fail`.
 */
export function createConnectionScope(
  fail: () => void,
): <A extends readonly unknown[]>(callback: (...args: A) => void) => (...args: A) => void {
  const scope = newScope({ fail });
  return (callback) => {
    const call = scopes.run(scope, () => guarded(callback));
    return (...args) => scopes.run(scope, () => call(...args));
  };
}

/** Throws in the scope, so that the process handles all errors of requests in one place (`takeFailure`). */
const throwLater = (error: unknown, scope: Scope): void =>
  scopes.run(scope, () =>
    queueMicrotask(() => {
      throw error;
    }),
  );

/** A stream may report an error this long after its request was answered, in milliseconds. */
const lateMs = 10_000;

/**
 * Fails the request or connection in whose scope an error was thrown that nothing caught. Returns the fields for its log
 * line; undefined for an error of the process itself. Connections that requests share keep the scope of the request that
 * opened them, so a request that was answered long ago counts as none.
 */
export function takeFailure(error: unknown): object | undefined {
  const scope = scopes.getStore();
  if (!scope || (scope.isOver && performance.now() - scope.endedAtMs > lateMs)) return undefined;
  scope.fail(error);
  return { ...(scope.context ? logFields(scope.context) : scope.fields) };
}

/** Returns the current request's fields, none outside a request, as a new object that the logger may fill. */
export const currentLogFields = (): object => ({ ...currentFields() });

/** Returns the current request's client, as rate limits identify it; undefined for the product's own work. */
export const currentClient = (): string | undefined => findCaller()?.name;

/** Returns the current request's caller, for a fair gate. Outside a request it is the product itself. */
export const currentCaller = (): Caller => findCaller() ?? ownCaller;

function findCaller(): Caller | undefined {
  const scope = scopes.getStore();
  if (scope?.context) scope.caller ??= callerOf(scope.context);
  return scope?.caller;
}

/**
 * Holds a resource until the answer of the current request is sent or its connection closes; outside a request it is
 * released at once. A request holds one resource: a new one releases the previous.
 */
export function holdUntilAnswered(release: () => void): void {
  releaseHeld();
  const scope = scopes.getStore();
  const response = scope?.response;
  const socket = response?.req.socket;
  if (!response || !socket || response.closed || socket.destroyed) {
    release();
    return;
  }
  // An answer that waits behind another gets no event when its connection closes.
  const end = () => {
    response.off('close', end);
    socket.off('close', end);
    release();
  };
  response.once('close', end);
  socket.once('close', end);
  scope.release = end;
}

/** Releases what the current request holds. */
export function releaseHeld(): void {
  const scope = scopes.getStore();
  const end = scope?.release;
  if (!end) return;
  scope.release = undefined;
  end();
}

/** Notes that the current request may have written, and how to find a database state that includes its writes. */
export function noteWritten(find: FindConsistency): void {
  const scope = scopes.getStore();
  if (scope) scope.findWritten = find;
}

/** Returns a database state that includes the current request's writes; undefined if it noted none. */
export const writtenState = async (): Promise<Consistency | undefined> => scopes.getStore()?.findWritten?.();

type Calling = Pick<RequestContext, 'principal' | 'clientAddress'>;

/** The client of a request, as rate limits identify it. */
export const clientOf = ({ principal, clientAddress }: Calling): string =>
  principal.type === 'guest' ? `guest ${clientKey(clientAddress)}` : `${principal.type} ${principal.id}`;

/** The caller of a request, for a fair gate. An anonymous account costs as little as an address. */
export const callerOf = (calling: Calling): Caller => ({
  name: clientOf(calling),
  address: clientKey(calling.clientAddress),
  rank: rankOf(calling.principal),
});

function rankOf(principal: RequestContext['principal']): CallerRank {
  if (principal.type === 'admin') return 'admin';
  return principal.type === 'guest' || (principal.type === 'user' && principal.anonymous) ? 'guest' : 'user';
}
