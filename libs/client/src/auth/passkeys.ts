import type { CallOptions, Transport } from '../transport.ts';
import { apiPath } from '../url.ts';

/** Apps without passkeys do not load the browser's part. */
export const loadBrowserPasskeys = () => import('./browser-passkeys.ts');

/** A passkey. Times are unix seconds. */
export interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
  readonly last_used_at: number | null;
  /** Whether a provider keeps a copy for other devices. */
  readonly synced: boolean;
  readonly transports: readonly string[];
}

/** What a browser needs to make or to use a passkey. */
export interface PasskeyCeremony {
  readonly challenge_id: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly expires: number;
}

/** What a browser made of the options, as JSON. */
export type PasskeyCredential = Readonly<Record<string, unknown>>;

interface Proof extends CallOptions {
  readonly oldPassword?: string | undefined;
}

interface Answered {
  readonly challengeId: string;
  readonly credential: PasskeyCredential;
}

/** Passkeys: signing in with one, and those of the account that is signed in. */
export interface Passkeys<SignIn> {
  /**
   * Signs in with a passkey that the user picks in the browser. With `conditional` the browser offers them among the
   * suggestions of a field with `autocomplete="username webauthn"`, and the call waits, however long; end it with its
   * `signal`.
   *
   * @example
   * const { state } = await client.auth('users').passkeys.login();
   */
  login(options?: CallOptions & { readonly conditional?: boolean }): Promise<SignIn>;
  /** Has the browser make a passkey for the account that is signed in, and adds it. */
  add(options?: Proof & { readonly name?: string }): Promise<Passkey>;
  list(options?: CallOptions): Promise<readonly Passkey[]>;
  rename(id: string, name: string, options?: CallOptions): Promise<Passkey>;
  remove(id: string, proof?: Proof): Promise<void>;
  /** Whether the browser can offer passkeys among suggestions. */
  canSuggest(): Promise<boolean>;
  /** The requests of `login` and `add`, for apps without a browser. */
  readonly steps: {
    beginLogin(options?: CallOptions): Promise<PasskeyCeremony>;
    finishLogin(answered: Answered, options?: CallOptions): Promise<SignIn>;
    beginAdd(proof?: Proof): Promise<PasskeyCeremony>;
    finishAdd(answered: Answered & { readonly name?: string | undefined }, options?: CallOptions): Promise<Passkey>;
  };
}

/** Returns the passkeys below a path, which users and admins have. */
export function createPasskeys<Answer, SignIn>(
  transport: Transport,
  base: readonly string[],
  signIn: (answer: Answer) => Promise<SignIn>,
): Passkeys<SignIn> {
  const at = (...more: string[]): string => apiPath(...base, 'passkeys', ...more);
  const post = <T>(path: string, values: object, options: CallOptions & { readonly isAnonymous?: boolean } = {}) =>
    transport.data<T>({ method: 'POST', path, values, ...options });
  const proofOf = (oldPassword: string | undefined) => (oldPassword === undefined ? {} : { old_password: oldPassword });
  const bodyOf = ({ challengeId, credential }: Answered) => ({ challenge_id: challengeId, credential });
  const steps: Passkeys<SignIn>['steps'] = {
    beginLogin: (options) => post(at('login', 'options'), {}, { ...options, isAnonymous: true }),
    finishLogin: async (answered, options) =>
      signIn(await post<Answer>(at('login', 'verify'), bodyOf(answered), { ...options, isAnonymous: true })),
    beginAdd: ({ oldPassword, ...options } = {}) => post(at('register', 'options'), proofOf(oldPassword), options),
    finishAdd: ({ name, ...answered }, options) =>
      post(at('register', 'verify'), { ...bodyOf(answered), ...(name !== undefined && { name }) }, options),
  };
  return {
    async login({ conditional = false, ...options } = {}) {
      const { suggestPasskey, usePasskey } = await loadBrowserPasskeys();
      for (;;) {
        const { challenge_id: challengeId, options: wanted } = await steps.beginLogin(options);
        const credential = conditional
          ? await suggestPasskey(wanted, options.signal)
          : await usePasskey(wanted, false, options.signal);
        if (credential) return steps.finishLogin({ challengeId, credential }, options);
      }
    },
    async add({ name, ...proof } = {}) {
      const { makePasskey } = await loadBrowserPasskeys();
      const { challenge_id: challengeId, options } = await steps.beginAdd(proof);
      const credential = await makePasskey(options, proof.signal);
      return steps.finishAdd({ challengeId, credential, name }, { signal: proof.signal });
    },
    list: (options) => transport.data({ method: 'GET', path: at(), ...options }),
    rename: (id, name, options) => transport.data({ method: 'PATCH', path: at(id), values: { name }, ...options }),
    async remove(id, { oldPassword, ...options } = {}) {
      await transport.send({ method: 'DELETE', path: at(id), values: proofOf(oldPassword), ...options });
    },
    canSuggest: async () => (await loadBrowserPasskeys()).canSuggestPasskeys(),
    steps,
  };
}
