import type { Passkey, PasskeyCredential, PasskeyUse } from '@recordbus/accounts';
import type { generateRegistrationOptions, RegistrationResponseJSON } from '@simplewebauthn/server';
import { challengeLifetimeSec } from '../one-time/login-challenges.ts';
import type { RelyingParty } from './relying-party.ts';

/** EdDSA, ES256, RS256 (IANA's COSE algorithms): what authenticators have. */
const algorithms = [-8, -7, -257];

/** The longest id that a key may have, in bytes (WebAuthn 3 §7.1, step 25). */
const maxIdBytes = 1023;

/** Loads the library. It takes longer than a request may wait, so the service does it when it starts. */
export const loadWebAuthn = () => import('@simplewebauthn/server');

/** The account that a passkey is made for, as authenticators show it. */
export interface PasskeyUser {
  readonly handle: Buffer;
  readonly email: string;
}

/** A credential as the browser's `toJSON` writes it, with its bytes in base64url (WebAuthn 3 §5.1). */
interface CredentialJson<Response> {
  readonly id: string;
  readonly rawId: string;
  readonly type: string;
  readonly response: Response;
}

export type NewCredentialJson = CredentialJson<{
  readonly clientDataJSON: string;
  readonly attestationObject: string;
  readonly transports?: string[] | undefined;
}>;

export type AssertionJson = CredentialJson<{
  readonly clientDataJSON: string;
  readonly authenticatorData: string;
  readonly signature: string;
  readonly userHandle?: string | null | undefined;
}>;

type Transports = NonNullable<
  Parameters<typeof generateRegistrationOptions>[0]['excludeCredentials']
>[number]['transports'];

/** Returns the options for `navigator.credentials.create` (WebAuthn 3 §5.4). */
export async function creationOptions(
  { id }: RelyingParty,
  user: PasskeyUser,
  challenge: string,
  existing: readonly PasskeyCredential[],
) {
  const { generateRegistrationOptions } = await loadWebAuthn();
  return generateRegistrationOptions({
    rpName: id,
    rpID: id,
    userID: Uint8Array.from(user.handle),
    userName: user.email,
    userDisplayName: user.email,
    challenge: Uint8Array.from(Buffer.from(challenge, 'base64url')),
    timeout: challengeLifetimeSec * 1000,
    attestationType: 'none',
    supportedAlgorithmIDs: algorithms,
    excludeCredentials: existing.map(({ credentialId, transports }) => ({
      id: credentialId.toString('base64url'),
      // Browsers skip transports that they do not know.
      transports: [...transports] as NonNullable<Transports>,
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'preferred' },
  });
}

/** Returns the options for `navigator.credentials.get` (WebAuthn 3 §5.5), which name no account. */
export async function requestOptions({ id }: RelyingParty, challenge: string) {
  const { generateAuthenticationOptions } = await loadWebAuthn();
  return generateAuthenticationOptions({
    rpID: id,
    challenge: Uint8Array.from(Buffer.from(challenge, 'base64url')),
    timeout: challengeLifetimeSec * 1000,
    userVerification: 'preferred',
  });
}

interface Expected {
  readonly party: RelyingParty;
  readonly challenge: string;
}

/** A new credential, and what its making proves. */
export interface NewCredential extends PasskeyCredential {
  /** Whether the authenticator verified the user, by a PIN or a fingerprint. */
  readonly isUserVerified: boolean;
}

/** Checks a new credential (WebAuthn 3 §7.1). Throws an error of any kind for a bad one. */
export async function checkNewCredential(
  given: NewCredentialJson,
  { party, challenge }: Expected,
): Promise<NewCredential> {
  const { verifyRegistrationResponse } = await loadWebAuthn();
  const { transports = [], clientDataJSON, attestationObject } = given.response;
  const checked = await verifyRegistrationResponse({
    response: completed(given, { clientDataJSON, attestationObject }),
    expectedChallenge: challenge,
    expectedOrigin: readOrigin(clientDataJSON, party),
    expectedRPID: party.id,
    requireUserVerification: false,
    supportedAlgorithmIDs: algorithms,
  });
  if (!checked.verified) throw new Error('the attestation is wrong');
  const { fmt, credential, credentialBackedUp, credentialDeviceType, userVerified } = checked.registrationInfo;
  // Options demand no attestation, so browsers send none, or the key's own signature. Certificates would need roots.
  if (fmt !== 'none' && fmt !== 'packed') throw new Error(`an attestation of the kind ${fmt} was not asked for`);
  const credentialId = Buffer.from(credential.id, 'base64url');
  if (credential.id !== given.id) throw new Error('the credential has another id than its key');
  if (credentialId.length === 0 || credentialId.length > maxIdBytes) throw new Error('the id has a wrong length');
  return {
    credentialId,
    publicKey: Buffer.from(credential.publicKey),
    signCount: credential.counter,
    isCopyable: credentialDeviceType === 'multiDevice',
    isCopied: credentialBackedUp,
    transports,
    isUserVerified: userVerified,
  };
}

/** What an assertion proves. */
export interface Assertion extends PasskeyUse {
  /** Whether the authenticator verified the user, by a PIN or a fingerprint. */
  readonly isUserVerified: boolean;
}

/** Checks an assertion by a stored passkey (WebAuthn 3 §7.2). Throws an error of any kind for a bad one. */
export async function checkAssertion(
  given: AssertionJson,
  passkey: Passkey,
  { party, challenge }: Expected,
): Promise<Assertion> {
  const { verifyAuthenticationResponse } = await loadWebAuthn();
  const { userHandle, ...response } = given.response;
  if (!Buffer.from(userHandle ?? '', 'base64url').equals(passkey.userHandle))
    throw new Error('the user handle is another');
  const id = passkey.credentialId.toString('base64url');
  if (given.id !== id) throw new Error('the id is another spelling');
  const checked = await verifyAuthenticationResponse({
    response: completed(given, response),
    expectedChallenge: challenge,
    expectedOrigin: readOrigin(response.clientDataJSON, party),
    expectedRPID: party.id,
    requireUserVerification: false,
    credential: {
      id,
      publicKey: Uint8Array.from(passkey.publicKey),
      counter: passkey.signCount,
    },
  });
  if (!checked.verified) throw new Error('the signature is wrong');
  const { newCounter, userVerified, credentialBackedUp, credentialDeviceType } = checked.authenticationInfo;
  if ((credentialDeviceType === 'multiDevice') !== passkey.isCopyable)
    throw new Error('a key may not begin or cease to be copyable');
  return { id: passkey.id, signCount: newCounter, isCopied: credentialBackedUp, isUserVerified: userVerified };
}

/** Returns a credential with what the library's types demand. It checks the type, and no extension is asked for. */
const completed = <Response>({ id, rawId, type }: CredentialJson<unknown>, response: Response) => ({
  id,
  rawId,
  type: type as RegistrationResponseJSON['type'],
  response,
  clientExtensionResults: {},
});

/**
 * Returns the origin in a credential's client data if the site admits it. The library does not look at frames of a new
 * credential, and admits those of an assertion that do not name the page around them.
 */
function readOrigin(clientDataJson: string, party: RelyingParty): string {
  const bytes = Buffer.from(clientDataJson, 'base64url');
  // Decoders read other spellings differently, and the library has its own.
  if (bytes.toString('base64url') !== clientDataJson) throw new Error('the client data is not base64url');
  const client: unknown = JSON.parse(bytes.toString('utf8'));
  if (typeof client !== 'object' || client === null) throw new Error('the client data is not an object');
  const { origin, crossOrigin = false, topOrigin } = client as Readonly<Record<string, unknown>>;
  if (crossOrigin !== false || topOrigin !== undefined) throw new Error('it was made in a frame of another origin');
  if (typeof origin !== 'string' || !party.admits(origin)) throw new Error('the origin is not the site');
  return origin;
}
