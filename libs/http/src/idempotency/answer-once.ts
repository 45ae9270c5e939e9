import type { IncomingMessage } from 'node:http';
import { AppError, malformed } from '@recordbus/errors';
import type { RequestContext } from '@recordbus/request/context';
import type { Reply } from '../reply.ts';
import type { Route } from '../route.ts';
import type { RequestDigest } from './request-digest.ts';
import type { FirstClaim, IdempotencyStore, KeepAnswer, KeptReply, RequestKey } from './store.ts';

/** The header's two names (http §7.1). */
const headerNames = ['Idempotency-Key', 'X-Service-Idempotency-Key'] as const;
const maxKeyLength = 255;

/**
 * Returns the request's key; undefined when it has none. Throws 400 for a key that is empty or too long, and for two
 * headers with different keys.
 */
export function readIdempotencyKey(request: IncomingMessage): string | undefined {
  const [key, other] = headerNames.flatMap((name) => readKey(request, name) ?? []);
  if (other !== undefined && other !== key)
    throw malformed(`${headerNames.join(' and ')} must have the same value when both are sent`);
  return key;
}

function readKey({ headers }: IncomingMessage, name: string): string | undefined {
  const key = headers[name.toLowerCase()];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || key === '' || key.length > maxKeyLength)
    throw malformed(`${name} must have 1 to ${maxKeyLength} characters`);
  return key;
}

/** The key of a request whose body has been read. */
export const requestKeyOf = (store: IdempotencyStore, request: KeyedRequest): RequestKey => ({
  findUnused: async () => store.findUnused(identityOf(request), await request.digest.take()),
  answerOnce: (work) => answerOnce(store, request, work),
});

export interface KeyedRequest {
  readonly key: string;
  readonly route: Route;
  readonly params: unknown;
  readonly context: RequestContext;
  /** The session that a caller without a token has for the route (`sessionHeader`). */
  readonly session?: string | undefined;
  /** The digest of query and body: a request with another digest is another request. */
  readonly digest: RequestDigest;
}

/**
 * Does the work of a request once for its key, across all replicas. A repetition gets the first 2xx answer again.
 * Throws 409 while the first request is running, and 422 when the key was used for another request; an answer other
 * than 2xx releases the key. A guest is identified by an address that others may share, so a guest never gets an answer
 * with a token again: 409, and the work is not repeated (http §7.7). The same holds for an answer that was forgotten.
 */
export async function answerOnce(
  store: IdempotencyStore,
  request: KeyedRequest,
  work: (keepAnswer: KeepAnswer) => Promise<Reply> | Reply,
): Promise<Reply> {
  // This comes before the work, so a client that disconnects meanwhile cannot keep the answer from being stored.
  if (!request.digest.isLate) await request.digest.take();
  const isGuest = isUnknown(request);
  const claim = await store.claim(identityOf(request));
  if (claim.outcome === 'running') throw stillRunning();
  if (claim.outcome === 'answered') {
    const kept = claim.replyTo(await request.digest.take());
    if (!kept) throw new AppError(422, 'idempotency_key_reused', 'the idempotency key was used for another request');
    if (kept === 'forgotten') throw notReplayed('was large, and is no longer kept');
    if (isGuest && holdsToken(kept)) throw notReplayed('holds a token, which a guest does not get again');
    return { ...kept, headers: { ...kept.headers, 'Idempotency-Replayed': 'true' } };
  }
  return workOnce(claim, { digest: request.digest, keptOf: isGuest ? keptForGuest : keptOf }, work);
}

async function workOnce(
  claim: FirstClaim,
  { digest, keptOf }: { readonly digest: RequestDigest; readonly keptOf: (reply: Reply) => KeptReply },
  work: (keepAnswer: KeepAnswer) => Promise<Reply> | Reply,
): Promise<Reply> {
  let reply: Reply;
  let isKept = false;
  const keepAnswer: KeepAnswer = async (answer, query) => {
    isKept = await claim.keepIn(query, keptOf(answer), await digest.take());
    if (!isKept) throw stillRunning();
  };
  try {
    reply = await work(keepAnswer);
    if (isKept) return reply;
    if (isSuccess(reply)) await claim.keep(keptOf(reply), await digest.take());
  } catch (error) {
    await claim.release();
    throw error;
  }
  if (!isSuccess(reply)) await claim.release();
  return reply;
}

const isSuccess = ({ status }: Reply): boolean => status >= 200 && status <= 299;

/** Whether nothing but an address tells who calls. */
const isUnknown = ({ context, session }: KeyedRequest): boolean =>
  context.principal.type === 'guest' && session === undefined;

/**
 * Identifies a key by its caller and resource. All paths to a resource count as one; a guest is known by the session of the
 * route, or else by address.
 */
function identityOf({ key, route, params, context, session }: KeyedRequest): string {
  const { principal, clientAddress } = context;
  const guest = session === undefined ? clientAddress : ['session', session];
  const caller = principal.type === 'guest' ? guest : principal.id;
  return JSON.stringify([principal.type, caller, route.method, route.paths[0], params, key]);
}

const keptOf = ({ status, headers = {}, body, json }: Reply): KeptReply => ({
  status,
  headers,
  json: json ?? JSON.stringify(body),
});

/** Stored in place of a guest's answer with a token. */
const tokenWithheld = '{"token":""}';

function keptForGuest(reply: Reply): KeptReply {
  const kept = keptOf(reply);
  return holdsToken(kept) ? { ...kept, headers: {}, json: tokenWithheld } : kept;
}

/**
 * Whether a JSON text has a member whose name ends in "token", or a value that is a signed token. It searches the text,
 * so that no route has to declare it, not even those of extensions. Both patterns run in linear time.
 */
const holdsToken = ({ json }: KeptReply): boolean =>
  /"[\w-]*token"\s*:/i.test(json) || /"eyJ[\w-]+\.[\w-]+\.[\w-]+"/.test(json);

const notReplayed = (why: string) =>
  new AppError(409, 'idempotency_not_replayed', `the first answer for this idempotency key ${why}`);

const stillRunning = () =>
  new AppError(409, 'idempotency_key_in_use', 'the first request with this idempotency key is still running', {
    headers: { 'Retry-After': '1' },
  });
