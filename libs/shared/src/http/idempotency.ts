import type { IncomingMessage } from 'node:http';
import type { RequestContext } from '../context.ts';
import { AppError, malformed } from '../errors.ts';
import type { FirstClaim, IdempotencyStore, KeepAnswer, KeptReply } from './idempotency-store.ts';
import type { Reply } from './reply.ts';
import type { RequestDigest } from './request-digest.ts';
import type { Route } from './route.ts';

const headerName = 'x-service-idempotency-key';
const maxKeyLength = 255;

/** The request's key; undefined when it has none. Throws 400 for one that is empty or too long. */
export function readIdempotencyKey({ headers }: IncomingMessage): string | undefined {
  const key = headers[headerName];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || key === '' || key.length > maxKeyLength)
    throw malformed(`X-Service-Idempotency-Key must have 1 to ${maxKeyLength} characters`);
  return key;
}

interface KeyedRequest {
  readonly key: string;
  readonly route: Route;
  readonly params: unknown;
  readonly context: RequestContext;
  /** Of what makes it the same request beside its path. */
  readonly digest: RequestDigest;
}

/**
 * Does the work of a request once for its key, whoever sends it again and to whichever replica: the first 2xx answer
 * is given again. Throws 409 while the first is still running, 422 when the key was used for another request; any
 * other answer lets go of the key.
 */
export async function answerOnce(
  store: IdempotencyStore,
  request: KeyedRequest,
  work: (keepAnswer: KeepAnswer) => Promise<Reply> | Reply,
): Promise<Reply> {
  // Before the work, so that a client that goes away meanwhile can't undo that it was done.
  if (!request.digest.isLate) await request.digest.take();
  const claim = await store.claim(identityOf(request));
  if (claim.outcome === 'running') throw stillRunning();
  if (claim.outcome === 'answered') {
    const kept = claim.replyTo(await request.digest.take());
    if (!kept) throw new AppError(422, 'idempotency_key_reused', 'the idempotency key was used for another request');
    return { ...kept, headers: { ...kept.headers, 'Idempotency-Replayed': 'true' } };
  }
  return workOnce(claim, request.digest, work);
}

async function workOnce(
  claim: FirstClaim,
  digest: RequestDigest,
  work: (keepAnswer: KeepAnswer) => Promise<Reply> | Reply,
): Promise<Reply> {
  let reply: Reply;
  let isKept = false;
  const keepAnswer: KeepAnswer = async (answer, query) => {
    isKept = await claim.keepIn(query, toKept(answer), await digest.take());
    if (!isKept) throw stillRunning();
  };
  try {
    reply = await work(keepAnswer);
    if (isKept) return reply;
    if (isSuccess(reply)) await claim.keep(toKept(reply), await digest.take());
  } catch (error) {
    await claim.release();
    throw error;
  }
  if (!isSuccess(reply)) await claim.release();
  return reply;
}

const isSuccess = ({ status }: Reply): boolean => status >= 200 && status <= 299;

/** The paths of one resource are one path; a guest is who calls from the same address. */
function identityOf({ key, route, params, context }: KeyedRequest): string {
  const { principal, clientAddress } = context;
  const caller = principal.type === 'guest' ? clientAddress : principal.id;
  return JSON.stringify([principal.type, caller, route.method, route.paths[0], params, key]);
}

const toKept = ({ status, headers = {}, body, json }: Reply): KeptReply => ({
  status,
  headers,
  json: json ?? JSON.stringify(body),
});

const stillRunning = () =>
  new AppError(409, 'idempotency_key_in_use', 'the first request with this idempotency key is still running', {
    headers: { 'Retry-After': '1' },
  });
