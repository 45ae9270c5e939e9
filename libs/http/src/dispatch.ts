import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AppError, forbidden, malformed, unauthenticated, validationFailed } from '@recordbus/errors';
import { describeIssues, unknownMember } from '@recordbus/errors/describe-issues';
import type { Logger } from '@recordbus/process/logging';
import type { Span } from '@recordbus/process/telemetry';
import { consistencyHeader } from '@recordbus/request/consistency';
import { contextHeader, type RequestContext } from '@recordbus/request/context';
import { authorizeKey } from '@recordbus/request/key-rights';
import { inRequest, logFields, writtenState } from '@recordbus/request/request-scope';
import type { z } from 'zod';
import { bodyLimitOf, hasBody, isMultipart, readJsonBody, requirePlainBody } from './body.ts';
import { compressReply } from './compress-reply.ts';
import { connectionHeaders } from './connection-headers.ts';
import { answerOnce, type KeyedRequest, readIdempotencyKey, requestKeyOf } from './idempotency/answer-once.ts';
import { digestRequest } from './idempotency/request-digest.ts';
import type { IdempotencyStore } from './idempotency/store.ts';
import { parseQuery } from './query-text.ts';
import type { Reply } from './reply.ts';
import { failRequest, logError, sendHeld, sendRefusal, sendReply, sendStream } from './respond.ts';
import type { Route, RouteInput } from './route.ts';
import { createRouter, type Match } from './router.ts';
import { inServerSpan, nameRoute } from './server-span.ts';
import type { RequestHandler } from './service.ts';

interface DispatcherOptions {
  readonly log: Logger;
  /** Converts a dependency's error to a refusal; undefined for an error that stays a 500. */
  readonly mapError: (thrown: unknown) => AppError | undefined;
  /** Required for services with idempotent routes. */
  readonly idempotency?: IdempotencyStore;
  /** Whether JSON answers are compressed for clients that accept it; by default they are not. */
  readonly compresses?: () => boolean;
}

/** Creates a service's request handler from its declared routes: find, authorize, validate, handle, answer. */
export function createDispatcher(
  routes: readonly Route[],
  { log, mapError, idempotency, compresses = () => false }: DispatcherOptions,
): RequestHandler {
  const findRoute = createRouter(routes);
  const withoutStore = routes.find(({ idempotent }) => idempotent && !idempotency);
  if (withoutStore)
    throw new Error(
      `${withoutStore.method} ${withoutStore.paths[0]} is idempotent, but there is no store for its answers`,
    );

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    context: RequestContext,
    span: Span | undefined,
  ): Promise<void> {
    const { path, search } = splitUrl(request.url ?? '/');
    const match = findRoute(request.method ?? 'GET', path);
    const { route } = match;
    if (span) nameRoute(span, request.method, route.paths[0] ?? path);
    authorize(route, match.params, context);
    const params = route.params ? readStrings(route.params, match.params) : match.params;
    const admission = route.admit?.({ params: params as never, context });
    if (admission instanceof Promise) await admission;
    const key = route.idempotent ? readIdempotencyKey(request) : undefined;
    const digest =
      key === undefined
        ? undefined
        : digestRequest(request, search, {
            limitBytes: bodyLimitOf(request, route),
            isStreamed: route.streamedBody !== undefined,
          });
    const keyed = key !== undefined &&
      digest && { key, digest, route, params, context, session: sessionOf(request, route) };
    const input = (await readInput(request, search, route, params, context)) as AnyInput;
    // The gateway has given up meanwhile and discarded the rest of the body.
    if (response.headersSent) return;
    const reply = await (keyed && idempotency ? handleKeyed(idempotency, keyed, input) : route.handler(input));
    const written = route.method === 'GET' ? undefined : await writtenState();
    if (response.headersSent) return;
    if (written !== undefined) response.setHeader(consistencyHeader, written);
    if (reply.openStream) await sendStream(request, response, reply, reply.openStream);
    else if (reply.holdOpen) sendHeld(request, response, reply, reply.holdOpen);
    else if (compresses()) {
      const coded = compressReply(request, route, reply);
      sendReply(response, coded instanceof Promise ? await coded : coded);
    } else sendReply(response, reply);
  }

  return (request, response, context) =>
    inServerSpan({ request, response, context, traceparent: context.traceparent }, async (span) => {
      try {
        const fail = (error: unknown): void => failRequest(request, response, error);
        await inRequest(context, () => answer(request, response, context, span), { response, fail });
      } catch (error) {
        const refusal = logError(request, mapError(error) ?? error, log, logFields(context));
        // No refusal after an answer has begun: a stream was cut, or the gateway gave up.
        if (!response.headersSent) sendRefusal(request, response, refusal);
      }
    });
}

function sessionOf({ headers }: IncomingMessage, { sessionHeader }: Route): string | undefined {
  const session = sessionHeader === undefined ? undefined : headers[sessionHeader];
  return typeof session === 'string' ? session : undefined;
}

type AnyInput = RouteInput<never, never, never>;

/** Handles a request with an idempotency key. A form is read within the work of its key, so a repetition stores no files. */
function handleKeyed(store: IdempotencyStore, request: KeyedRequest, input: AnyInput): Promise<Reply> | Reply {
  const { route } = request;
  return route.answersOnce && !input.multipart
    ? route.handler({ ...input, key: requestKeyOf(store, request) })
    : answerOnce(store, request, (keepAnswer) => route.handler({ ...input, keepAnswer }));
}

/** Splits a request target into its path and its query text (without the question mark). */
export function splitUrl(url: string): { path: string; search: string } {
  const mark = url.indexOf('?');
  return mark < 0 ? { path: url, search: '' } : { path: url.slice(0, mark), search: url.slice(mark + 1) };
}

/**
 * Refuses a caller that the declaration does not admit: 401 without a valid token, 403 with the wrong kind of token,
 * and for a key without the route's scope.
 */
export function authorize(
  { access, scope, takesEnrollment }: Pick<Route, 'access' | 'scope' | 'takesEnrollment'>,
  { collection }: Match<unknown>['params'],
  { principal }: RequestContext,
): void {
  if (principal.type === 'service') {
    authorizeKey({ access, scope }, principal.scopes, collection);
    return;
  }
  if (access === 'public' || (takesEnrollment && principal.type === 'guest')) return;
  if (principal.type === 'guest') throw unauthenticated();
  if (access !== 'session' && principal.type !== access) throw forbidden(`only for ${access} tokens`);
}

async function readInput(
  request: IncomingMessage,
  search: string,
  route: Route,
  params: unknown,
  context: RequestContext,
): Promise<RouteInput<unknown, unknown, unknown>> {
  const takesMultipart = route.multipartLimitBytes !== undefined && isMultipart(request);
  if (hasBody(request) && (route.body || takesMultipart || route.streamedBody)) requirePlainBody(request);
  const multipart = takesMultipart && hasBody(request) ? request : undefined;
  return {
    params,
    query: readQuery(route.query, search),
    body: route.body && readBody(route, route.body, multipart ? undefined : await readJsonBody(request, route)),
    isHead: request.method === 'HEAD',
    multipart,
    stream: route.streamedBody && hasBody(request) ? request : undefined,
    queryText: (name) => parseQuery(search).getAll(name).at(-1),
    queryTexts: (name) => parseQuery(search).getAll(name),
    context,
    // No getters: a getter would give each object its own hidden class, which slows down every request.
    headerNames: () => Object.keys(request.headers).filter(isOfRequest),
    header: (name) => {
      const value = isOfRequest(name) ? request.headers[name] : undefined;
      return Array.isArray(value) ? value.join(', ') : value;
    },
  };
}

/** Whether the header is part of the client's request; others depend on where the service runs. */
const isOfRequest = (name: string): boolean => !connectionHeaders.has(name) && name !== contextHeader;

/** Parses the query; without a schema it returns each name once. */
function readQuery(schema: z.ZodType | undefined, search: string): unknown {
  const texts = search === '' ? {} : Object.fromEntries(parseQuery(search));
  return schema ? readStrings(schema, texts) : texts;
}

/** Validates path and query parameters; throws 400 when they do not fit. */
function readStrings(schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw doesNotFit(result.error, value);
}

function doesNotFit(error: z.ZodError, value: unknown): AppError {
  const details = describeIssues(error, value);
  const [name, message] = Object.entries(details)[0] ?? ['request', 'not valid'];
  return malformed(`${name}: ${message}`, details);
}

/** How many members a body may have. A collection has a few hundred fields, and there are a few hundred settings. */
const maxMembers = 10_000;

/**
 * Validates a JSON body; no body counts as an empty object. Throws 400 for a body that is not an object, and 422 (or
 * the route's status) naming each invalid member.
 */
function readBody({ refusesBodyWith }: Route, schema: z.ZodType, value: unknown = {}): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw malformed('the body must be a JSON object');
  // Checked here because schemas never see this member: copies of an object lose it.
  if (Object.hasOwn(value, '__proto__')) throw validationFailed({ ['__proto__']: unknownMember });
  if (Object.keys(value).length > maxMembers)
    throw validationFailed({ body: `must have at most ${maxMembers} members` });
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw refusesBodyWith === 400
    ? doesNotFit(result.error, value)
    : validationFailed(describeIssues(result.error, value));
}
