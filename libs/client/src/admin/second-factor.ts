import type { CallOptions } from '../transport.ts';
import type { Requests } from './requests.ts';

/** Whether an admin has an authenticator app, and how many recovery codes. */
export interface SecondFactorStatus {
  readonly enabled: boolean;
  readonly recovery_codes: { readonly total: number; readonly remaining: number };
}

const path = ['admin', 'totp'];
const proofOf = ({ oldPassword }: { readonly oldPassword: string }) => ({ old_password: oldPassword });

/** The signed-in admin's second factor (admins §2.1). */
export const createSecondFactor = ({ get, post }: Requests) => ({
  status: (options?: CallOptions) => get<SecondFactorStatus>(path, options),
  /** Creates an authenticator app's secret. It takes effect when it is confirmed. */
  setUp: (proof: { readonly oldPassword: string }, options?: CallOptions) =>
    post<{ readonly secret: string; readonly otpauth_url: string }>([...path, 'setup'], proofOf(proof), options),
  /** Enables the app. Returns the recovery codes. */
  confirm: async (code: string, options?: CallOptions): Promise<readonly string[]> =>
    (await post<{ readonly codes: readonly string[] }>([...path, 'confirm'], { code }, options)).codes,
  disable: async (
    proof: { readonly code: string; readonly oldPassword: string },
    options?: CallOptions,
  ): Promise<void> => {
    await post([...path, 'disable'], { code: proof.code, ...proofOf(proof) }, options);
  },
  /** Replaces the recovery codes and returns the new ones. */
  newCodes: async (proof: { readonly oldPassword: string }, options?: CallOptions): Promise<readonly string[]> =>
    (await post<{ readonly codes: readonly string[] }>([...path, 'recovery', 'regenerate'], proofOf(proof), options))
      .codes,
});
