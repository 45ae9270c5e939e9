import { ok, type Route, route } from '@recordbus/http';
import type { Collection } from '@recordbus/schema';
import { z } from 'zod';
import { type AuthParts, originOf } from '../auth-parts.ts';
import { providerProfile } from '../identity/provider-profile.ts';
import { provePasskey } from '../passkeys/prove-passkey.ts';
import { finishSignIn } from '../sign-in/finish-sign-in.ts';
import type { OfferedFactor } from '../sign-in/read-offered-factor.ts';
import type { SecondFactor } from '../totp/second-factor.ts';
import { admitTo, authParams, authPath, text } from './auth-paths.ts';
import { passkeySignIn, readPasskeySignIn } from './passkey-schemas.ts';
import { userSession } from './session-schemas.ts';

/** The first factor's token, and an authenticator code or a recovery code. */
export const secondFactorProof = z
  .object({ mfa_token: text, code: text.optional(), recovery_code: text.optional() })
  .transform(({ mfa_token: mfaToken, code, recovery_code: recoveryCode }, context) => {
    const factor: SecondFactor | undefined =
      code !== undefined ? { code } : recoveryCode !== undefined ? { recoveryCode } : undefined;
    if (factor) return { mfaToken, factor };
    context.addIssue({ code: 'custom', path: ['code'], message: 'give code or recovery_code' });
    return z.NEVER;
  });

/** The same for users, or a passkey. */
const userProof = z
  .object({
    mfa_token: text,
    code: text.optional().describe('from the authenticator app, or from the mail'),
    recovery_code: text.optional(),
    passkey: passkeySignIn.optional().describe("the browser's answer to the options of passkeys/login/options"),
  })
  .refine(({ code, recovery_code, passkey }) => code !== undefined || recovery_code !== undefined || passkey, {
    path: ['code'],
    error: 'give code, recovery_code or passkey',
  });

/** A sign-in's second factor (auth §6.4). */
export const secondFactorRoutes = (parts: AuthParts): Route[] => [
  route({
    method: 'POST',
    path: authPath('/login/mfa'),
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: 'Finish a sign-in with an authenticator code, a recovery code, a mailed code or a passkey',
    params: authParams,
    body: userProof,
    answers: {
      200: userSession.extend({ linked_provider: z.string().optional(), profile: providerProfile.optional() }),
      401: 'the mfa_token or the code is wrong, used or expired',
      404: 'no such auth collection',
      409: 'the account at the provider, which was to be linked, now belongs to another user',
      429: 'too many wrong codes',
    },
    admit: admitTo(parts.collections),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) =>
        ok(await finishSignIn(parts, collection, readProof(parts, collection, input.body), originOf(input))),
      ),
  }),
];

function readProof(
  parts: AuthParts,
  { id }: Pick<Collection, 'id'>,
  { mfa_token: mfaToken, code, recovery_code: recoveryCode = '', passkey }: z.output<typeof userProof>,
): { readonly mfaToken: string; readonly factor: OfferedFactor } {
  if (code !== undefined) return { mfaToken, factor: { code } };
  if (!passkey) return { mfaToken, factor: { recoveryCode } };
  return { mfaToken, factor: { prove: () => provePasskey(parts, id, readPasskeySignIn(passkey)) } };
}
