import { RecordbusError } from '../error.ts';
import type { SessionKeeper } from '../session/keeper.ts';
import type { CallOptions, Transport } from '../transport.ts';
import { apiPath } from '../url.ts';
import type { createSignIn, SignUp } from './sign-in.ts';

/** An account's session. Times are unix seconds. */
export interface SessionRow {
  readonly id: string;
  readonly created_at: number;
  readonly last_used_at: number;
  readonly ip: string | null;
  readonly user_agent: string | null;
  /** Whether it is this client's session. */
  readonly current: boolean;
}

/** The signed-in account's sessions. */
export interface Sessions {
  list(options?: CallOptions): Promise<readonly SessionRow[]>;
  end(id: string, options?: CallOptions): Promise<void>;
  /** Ends all other sessions, and all pending links. */
  endOthers(options?: CallOptions): Promise<void>;
}

/** The password, with which a change needs no recent sign-in. */
export interface PasswordProof extends CallOptions {
  readonly oldPassword?: string | undefined;
}

/** An export of the account's own data. Times are unix seconds. */
export interface OwnDataJob {
  readonly id: string;
  readonly state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled';
  readonly error: { readonly message: string } | null;
  readonly created: number;
  readonly finished: number | null;
  /** Null until it is done; it goes at `until`. */
  readonly archive: { readonly bytes: number; readonly files: number; readonly until: number } | null;
}

/** The signed-in account's own data, as an archive. */
export interface OwnData {
  /** Starts an export, or returns the one that is running. */
  export(options?: CallOptions): Promise<OwnDataJob>;
  get(jobId: string, options?: CallOptions): Promise<OwnDataJob>;
  /** Streams the archive, a ZIP. */
  download(jobId: string, options?: CallOptions): Promise<Response>;
}

/** What the signed-in account can do with itself. */
export interface OwnAccount<R> {
  /** Ends the session, here and on the server. Then the client is a guest, even if the server cannot be reached. */
  logout(options?: CallOptions): Promise<void>;
  /** Changes the password. All sessions end, and a new one begins. */
  changePassword(
    values: { readonly oldPassword: string; readonly password: string },
    options?: CallOptions,
  ): Promise<SignUp<R>>;
  /** Mails the link that proves the address again. */
  requestVerification(options?: CallOptions): Promise<void>;
  /** Mails a link to the new address. With `proveLater` the password comes with the confirmation instead. */
  requestEmailChange(
    email: string,
    proof?: PasswordProof & { readonly proveLater?: boolean | undefined },
  ): Promise<void>;
  readonly sessions: Sessions;
  readonly ownData: OwnData;
  /** The authenticator app. */
  readonly totp: {
    /** Creates a secret, which takes effect when it is confirmed. */
    setup(proof?: PasswordProof): Promise<{ readonly secret: string; readonly otpauth_url: string }>;
    /** Confirms the app with one of its codes. Returns the recovery codes, which are never shown again. */
    confirm(code: string, options?: CallOptions): Promise<{ readonly codes: readonly string[] }>;
    disable(values: { readonly code: string; readonly oldPassword?: string }, options?: CallOptions): Promise<void>;
    /** Replaces the recovery codes. */
    regenerateRecoveryCodes(proof?: PasswordProof): Promise<{ readonly codes: readonly string[] }>;
    recoveryStatus(options?: CallOptions): Promise<{ readonly total: number; readonly remaining: number }>;
  };
}

/** The session routes below a path, which users and admins have. */
export function createSessions(transport: Transport, base: readonly string[]): Sessions {
  const at = (...more: string[]): string => apiPath(...base, 'sessions', ...more);
  return {
    list: (options) => transport.data({ method: 'GET', path: at(), ...options }),
    async end(id, options) {
      await transport.send({ method: 'DELETE', path: at(id), ...options });
    },
    async endOthers(options) {
      await transport.send({ method: 'DELETE', path: at(), ...options });
    },
  };
}

/** Ends a session on the server and in the client. */
export async function endSession(
  transport: Transport,
  session: SessionKeeper,
  base: readonly string[],
  options: CallOptions = {},
): Promise<void> {
  try {
    if (await session.current()) await transport.send({ method: 'POST', path: apiPath(...base, 'logout'), ...options });
  } catch (error) {
    // The session has already ended, or the token belongs to another program.
    if (!(error instanceof RecordbusError) || (error.status !== 401 && error.code !== 'no_session')) throw error;
  } finally {
    await session.end();
  }
}

/** Returns the signed-in account's functions. */
export function createOwnAccount<R>(
  transport: Transport,
  session: SessionKeeper,
  collection: string,
  signUp: ReturnType<typeof createSignIn<R>>['signUp'],
): OwnAccount<R> {
  const call = <T>(path: string, values: object, { query, signal }: CallOptions = {}): Promise<T> =>
    transport.data<T>({ method: 'POST', path: `${apiPath('auth', collection)}/${path}`, values, query, signal });
  const proofOf = ({ oldPassword }: { readonly oldPassword?: string | undefined } = {}) =>
    oldPassword === undefined ? {} : { old_password: oldPassword };
  return {
    logout: (options) => endSession(transport, session, ['auth', collection], options),
    changePassword: async ({ password, ...proof }, options) =>
      signUp(await call('change-password', { password, ...proofOf(proof) }, options)),
    requestVerification: (options) => call('request-verify', {}, options),
    requestEmailChange: (email, proof) =>
      call(
        'request-email-change',
        { email, ...proofOf(proof), ...(proof?.proveLater && { prove_later: true }) },
        proof,
      ),
    sessions: createSessions(transport, ['auth', collection]),
    ownData: {
      export: (options) => transport.data({ method: 'GET', path: apiPath('auth', collection, 'export'), ...options }),
      get: (id, options) => transport.data({ method: 'GET', path: apiPath('jobs', id), ...options }),
      download: (id, options) => transport.open({ method: 'GET', path: apiPath('jobs', id, 'archive'), ...options }),
    },
    totp: {
      setup: (proof) => call('totp/setup', proofOf(proof), proof),
      confirm: (code, options) => call('totp/confirm', { code }, options),
      disable: ({ code, ...proof }, options) => call('totp/disable', { code, ...proofOf(proof) }, options),
      regenerateRecoveryCodes: (proof) => call('totp/recovery/regenerate', proofOf(proof), proof),
      recoveryStatus: (options) =>
        transport.data({ method: 'GET', path: `${apiPath('auth', collection)}/totp/recovery/status`, ...options }),
    },
  };
}
