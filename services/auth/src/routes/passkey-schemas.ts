import type { Passkey } from '@recordbus/accounts';
import { boundedText } from '@recordbus/text/bounded-text';
import { z } from 'zod';
import { oldPassword } from './auth-paths.ts';

/** A key's id has at most 1,023 bytes. */
const credentialId = boundedText(1364);

/** More than any client data, and than a key of the algorithms with its attestation. */
const clientData = boundedText(8192);
const attestation = boundedText(16_384);
const authenticatorData = boundedText(8192);
const signature = boundedText(4096);

const common = { id: credentialId, rawId: credentialId, type: z.string('must be a string').max(32) };

/** A new credential (`RegistrationResponseJSON`). Its other members are not read. */
const newCredential = z
  .object({
    ...common,
    response: z.object({
      clientDataJSON: clientData,
      attestationObject: attestation,
      transports: z
        .array(boundedText(32).regex(/^[a-z0-9-]+$/, 'must be a transport, such as internal'))
        .max(10)
        .optional(),
    }),
  })
  .meta({ id: 'NewPasskeyCredential' });

/** An assertion (`AuthenticationResponseJSON`). Its other members are not read. */
export const assertion = z
  .object({
    ...common,
    response: z.object({
      clientDataJSON: clientData,
      authenticatorData,
      signature,
      userHandle: boundedText(88).nullish(),
    }),
  })
  .meta({ id: 'PasskeyAssertion' });

const challengeId = boundedText(128).describe('from the options; it works once');

const passkeyName = boundedText(100)
  .trim()
  .min(1, 'must not be empty')
  .regex(/^[^\p{Cc}\u2028\u2029]*$/u, 'must be one line without control characters')
  .describe('for the list, such as the device');

export const addingBody = z.object({ old_password: oldPassword });

export const newPasskeyBody = z.object({
  challenge_id: challengeId,
  credential: newCredential,
  name: passkeyName.default('Passkey'),
});

export const passkeySignIn = z.object({ challenge_id: challengeId, credential: assertion });

export const renameBody = z.object({ name: passkeyName });

const unixSec = z.int().describe('unix seconds');

/** What a browser needs to make or to use a passkey. */
export const ceremony = z
  .object({
    challenge_id: z.string(),
    options: z
      .record(z.string(), z.unknown())
      .describe("for PublicKeyCredential's parseCreationOptionsFromJSON or parseRequestOptionsFromJSON"),
    expires: unixSec,
  })
  .meta({ id: 'PasskeyCeremony' });

/** A passkey in a list (auth §4.6). */
export const passkeyJson = z
  .object({
    id: z.string(),
    name: z.string(),
    created_at: unixSec,
    last_used_at: unixSec.nullable(),
    synced: z.boolean().describe('whether a provider keeps a copy for other devices'),
    transports: z.array(z.string()).describe('how browsers reach it, such as internal, hybrid or usb'),
  })
  .meta({ id: 'Passkey' });

/** Returns a passkey as answers show it. */
export const presentPasskey = ({ id, name, createdAtSec, lastUsedAtSec, isCopied, transports }: Passkey) => ({
  id,
  name,
  created_at: createdAtSec,
  last_used_at: lastUsedAtSec,
  synced: isCopied,
  transports: [...transports],
});

/** Reads the body of a new passkey. */
export const readNewPasskey = ({ challenge_id, credential, name }: z.output<typeof newPasskeyBody>) => ({
  challengeId: challenge_id,
  credential,
  name,
});

/** Reads the body of a sign-in. */
export const readPasskeySignIn = ({ challenge_id, credential }: z.output<typeof passkeySignIn>) => ({
  challengeId: challenge_id,
  credential,
});
