import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto';
import { forbidden } from './errors.ts';

/** The caller, as the gateway verified it. */
export type Principal =
  | {
      readonly type: 'guest';
      /** Whether the request has an invalid token. */
      readonly rejectedToken: boolean;
      /** Whether the token is that of an anonymous user who has been promoted since. */
      readonly isPromoted?: true;
    }
  | ({
      readonly type: 'user';
      readonly id: string;
      readonly email: string;
      readonly collection: string;
      readonly anonymous: boolean;
      /** Whether the account's address is verified now; tokens do not say so. */
      readonly verified?: boolean | undefined;
      readonly impersonatedBy: string | null;
    } & SessionClaims)
  | ({ readonly type: 'admin'; readonly id: string; readonly email: string } & SessionClaims)
  | {
      /** A service key: a machine. */
      readonly type: 'service';
      readonly id: string;
      /** The scopes of the key, with the current names of collections. */
      readonly scopes: readonly string[];
      /** The label whose rate rules apply to the key, if it has one. */
      readonly rateLabel?: string | undefined;
      /** When the key expires, in unix seconds. */
      readonly expiresAtSec?: number | undefined;
    };

/** The claims of a token about its session. With them a service can look the session up again. */
interface SessionClaims {
  /** The id of the session's row; a token that was signed elsewhere may have none. */
  readonly sessionId?: string | undefined;
  /** The version of the account's tokens. */
  readonly tokenVersion?: number | undefined;
  /** When the token expires, in unix seconds. */
  readonly expiresAtSec?: number | undefined;
}

/** What the gateway passes to the service with a request. */
export interface RequestContext {
  readonly requestId: string;
  /** W3C trace context of the request, always present, sampled or not. */
  readonly traceparent: string;
  readonly principal: Principal;
  /** The client's address, behind trusted proxies. */
  readonly clientAddress: string;
}

/** The internal header that carries a signed context from the gateway to a service. */
export const contextHeader = 'x-recordbus-context';

/**
 * How long a signed context is valid, in milliseconds. It allows for clock differences between machines, not for the
 * duration of a request.
 */
const lifetimeMs = 30_000;

/** Signs contexts for the internal header and verifies them. Both ends derive the key from the token secret. */
export interface ContextSigner {
  sign(context: RequestContext): string;
  /** Throws 403 for a header that is missing, forged or out of date. */
  verify(header: string | string[] | undefined): RequestContext;
}

/** Creates a signer from the deployment's token secret (raw bytes). */
export function createContextSigner(secret: Uint8Array, now: () => number = Date.now): ContextSigner {
  // A key object, because raw bytes would be imported again for each signature, which costs four times as much.
  const key = createSecretKey(new Uint8Array(hkdfSync('sha256', secret, '', 'recordbus internal context', 32)));
  const mac = (payload: string) => createHmac('sha256', key).update(payload).digest();
  return {
    sign(context) {
      const payload = Buffer.from(JSON.stringify({ ...context, expiresAtMs: now() + lifetimeMs })).toString(
        'base64url',
      );
      return `${payload}.${mac(payload).toString('base64url')}`;
    },
    verify(header) {
      const refused = forbidden('this service answers only to the gateway', 'context_refused');
      if (typeof header !== 'string') throw refused;
      const [payload = '', signature = ''] = header.split('.');
      const given = Buffer.from(signature, 'base64url');
      const expected = mac(payload);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw refused;
      const { expiresAtMs, ...context } = JSON.parse(Buffer.from(payload, 'base64url').toString());
      if (Math.abs(expiresAtMs - now()) > 2 * lifetimeMs || expiresAtMs < now() - lifetimeMs) throw refused;
      return context;
    },
  };
}
