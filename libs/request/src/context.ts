import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { forbidden, unavailable } from '@recordbus/errors';

/** The caller, as the gateway verified it. */
export type Principal =
  | {
      readonly type: 'guest';
      /** Whether the request has an invalid token. */
      readonly rejectedToken: boolean;
      /** Whether the token belongs to an anonymous user who has been promoted since. */
      readonly isPromoted?: true;
      /** The text of an invalid bearer token, for a route that takes enrollment tokens (auth §6.10). */
      readonly bearer?: string | undefined;
    }
  | ({
      readonly type: 'user';
      readonly id: string;
      readonly email: string;
      readonly collection: string;
      readonly anonymous: boolean;
      /** Whether the account's address is verified now; tokens do not say so. */
      readonly verified?: boolean | undefined;
      /** The factors of the session's sign-in; tokens do not say them. */
      readonly factors?: readonly string[] | undefined;
      /** When the session's sign-in happened, in unix seconds; null for a session without one. */
      readonly signedInAtSec?: number | null | undefined;
      readonly impersonatedBy: string | null;
    } & SessionClaims)
  | ({ readonly type: 'admin'; readonly id: string; readonly email: string } & SessionClaims)
  | {
      /** A service key: a machine. */
      readonly type: 'service';
      readonly id: string;
      /** The key's scopes, with the collections' current names. */
      readonly scopes: readonly string[];
      /** The label whose rate rules apply to the key, if it has one. */
      readonly rateLabel?: string | undefined;
      /** Whether no rate limit counts the key's requests. */
      readonly isUncounted?: true | undefined;
      /** When the key expires, in unix seconds. */
      readonly expiresAtSec?: number | undefined;
    };

/** A token's claims about its session. With them a service can look the session up again. */
interface SessionClaims {
  /** The id of the session's row; a token that was signed elsewhere may have none. */
  readonly sessionId?: string | undefined;
  /** The account's token version. */
  readonly tokenVersion?: number | undefined;
  /** When the token expires, in unix seconds. */
  readonly expiresAtSec?: number | undefined;
}

/** What the gateway passes to the service with a request. */
export interface RequestContext {
  readonly requestId: string;
  /** The request's W3C trace context, always present, sampled or not. */
  readonly traceparent: string;
  readonly principal: Principal;
  /** The client's address, behind trusted proxies. */
  readonly clientAddress: string;
  /** Whether the gateway translates this request for a PocketBase client. */
  readonly isTranslated?: true | undefined;
}

/** The internal header that carries a signed context from the gateway to a service. */
export const contextHeader = 'x-recordbus-context';

/**
 * By the verifier's clock, a context is good for 5 s in all: from 1 s before the time that it names to 4 s after it, in
 * milliseconds. The first part allows for a signer's clock that is ahead, the second for the transport and for
 * a clock that is behind. So the 5 s hold at any difference between the clocks; a larger one refuses every context.
 */
const earlyMs = 1000;
const lateMs = 4000;

/** The request that a context belongs to: its method, and its target (path and query). */
export type BoundRequest = Pick<IncomingMessage, 'method' | 'url'>;

/** Signs contexts for the internal header and verifies them. Both ends derive the key from the token secret. */
export interface ContextSigner {
  /** Sign when the request is about to be sent: the context is good for seconds (http §6.5). */
  sign(context: RequestContext, request: BoundRequest): string;
  /** Throws 403 for a header that is missing, forged or from another request, and 503 for one that is too old. */
  verify(header: string | string[] | undefined, request: BoundRequest): RequestContext;
}

/** Creates a signer from the deployment's token secret (raw bytes). */
export function createContextSigner(secret: Uint8Array, now: () => number = Date.now): ContextSigner {
  // A key object, because raw bytes would be imported again for each signature, which costs four times as much.
  const key = createSecretKey(new Uint8Array(hkdfSync('sha256', secret, '', 'recordbus internal context', 32)));
  // Neither the payload nor a method can contain the separators, so no two requests give one text.
  const mac = (payload: string, { method, url }: BoundRequest) =>
    createHmac('sha256', key).update(`${payload}\n${method} ${url}`).digest();
  return {
    sign(context, request) {
      const payload = Buffer.from(JSON.stringify({ ...context, signedAtMs: now() })).toString('base64url');
      return `${payload}.${mac(payload, request).toString('base64url')}`;
    },
    verify(header, request) {
      if (typeof header !== 'string') throw refusal('this service answers only to the gateway');
      const [payload = '', signature = ''] = header.split('.');
      const given = Buffer.from(signature, 'base64url');
      const expected = mac(payload, request);
      if (given.length !== expected.length || !timingSafeEqual(given, expected))
        throw refusal('this service answers only to the gateway');
      const { signedAtMs, ...context } = JSON.parse(Buffer.from(payload, 'base64url').toString());
      const ageMs = typeof signedAtMs === 'number' ? now() - signedAtMs : Number.NaN;
      const difference = `the gateway signed this request ${(ageMs / 1000).toFixed(1)} s ago by this machine's clock`;
      // On a busy machine a request waits that long for its turn. It has done nothing, so the client may repeat it.
      if (ageMs > lateMs) throw unavailable(`${difference}: the service is busy, or the clocks differ`);
      if (!(ageMs >= -earlyMs)) throw refusal(`${difference}; compare the clocks`);
      return context;
    },
  };
}

const refusal = (message: string) => forbidden(message, 'context_refused');
