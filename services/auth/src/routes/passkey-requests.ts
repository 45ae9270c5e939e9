import { z } from 'zod';
import { addingBody, ceremony, newPasskeyBody, passkeyJson, passkeySignIn, renameBody } from './passkey-schemas.ts';

const off = 'switched off, or the settings name no domain';
const tooManyPasswords = 'too many wrong passwords';

/** What the passkey routes of users and of admins take and answer alike (auth §4.6, admins §2.2). */
export const passkeyRequests = {
  list: { answers: { 200: z.array(passkeyJson) } },
  beginAdding: {
    body: addingBody,
    answers: { 200: ceremony, 409: 'the account has 20 passkeys', 422: off, 429: tooManyPasswords },
  },
  finishAdding: {
    body: newPasskeyBody,
    answers: {
      201: passkeyJson,
      401: 'the passkey is wrong, or the challenge is used, expired or of another session',
      409: 'the account has 20 passkeys, or the passkey is in use already',
      422: off,
    },
  },
  rename: { body: renameBody, answers: { 200: passkeyJson } },
  remove: { body: addingBody, answers: { 200: z.object({ removed: z.string() }), 429: tooManyPasswords } },
  beginSignIn: { body: z.object({}), answers: { 200: ceremony, 422: off } },
  finishSignIn: {
    body: passkeySignIn,
    answers: { 401: 'the passkey is wrong, or the challenge is wrong, used or expired', 422: off },
  },
} as const;
