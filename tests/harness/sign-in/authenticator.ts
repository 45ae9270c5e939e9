import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { at, textAt } from '../json.ts';
import { type CborValue, encodeCbor } from './cbor.ts';

/** The flags in authenticator data (WebAuthn 3 §6.1). */
export const flag = { present: 1, verified: 4, copyable: 8, copied: 16, hasKey: 64 } as const;

type Algorithm = 'ES256' | 'EdDSA' | 'RS256';

/** What an authenticator or a browser does otherwise than it should. */
export interface Deviation {
  /** Members of the client data that are other, or more. */
  readonly client?: Readonly<Record<string, unknown>>;
  readonly flags?: number;
  /** The domain whose hash the authenticator signs. */
  readonly rpId?: string;
  readonly count?: number;
  /** A new key's id. */
  readonly id?: Buffer;
  readonly userHandle?: string | null;
  /** Members of the credential that are other. */
  readonly credential?: Readonly<Record<string, unknown>>;
  /** Members of the credential's response that are other. */
  readonly response?: Readonly<Record<string, unknown>>;
  /** The COSE algorithm that a new key names. */
  readonly alg?: number;
  /** The format and the statement of an attestation. */
  readonly attestation?: readonly [format: string, statement: ReadonlyMap<string, CborValue>];
  /** Bytes after the authenticator data. */
  readonly rest?: Uint8Array;
  /** Changes the signature. */
  readonly signs?: (signed: Buffer) => Buffer;
}

export interface AuthenticatorKey {
  readonly id: Buffer;
  readonly privateKey: KeyObject;
  readonly algorithm: Algorithm;
  readonly userHandle: string;
  readonly rpId: string;
  count: number;
}

export interface AuthenticatorOptions {
  readonly algorithm?: Algorithm;
  /** Where the browser is. */
  readonly origin?: string;
  /** Whether it verifies its user; true by default. */
  readonly verifies?: boolean;
  /** Whether it counts its signatures. Keys that a provider copies count zero. */
  readonly counts?: boolean;
}

/** Where the scenarios' browsers are. With no site in the settings, passkeys work there. */
export const developmentOrigin = 'http://localhost:8080';

const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();
const encoded = (data: Uint8Array): string => Buffer.from(data).toString('base64url');

/**
 * A browser with an authenticator in software, as far as a server sees them: it makes the bodies of `register/verify` and
 * `login/verify` from the answers of `…/options`.
 */
export function createAuthenticator({
  algorithm = 'ES256',
  origin = developmentOrigin,
  verifies = true,
  counts = false,
}: AuthenticatorOptions = {}) {
  const keys: AuthenticatorKey[] = [];
  const userFlags = flag.present | (verifies ? flag.verified : 0) | (counts ? 0 : flag.copyable | flag.copied);

  const clientDataOf = (type: string, challenge: string, { client = {} }: Deviation) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false, ...client }));

  const authenticatorData = (rpId: string, count: number, deviation: Deviation, key?: Buffer) => {
    const head = Buffer.alloc(37);
    sha256(deviation.rpId ?? rpId).copy(head);
    head[32] = deviation.flags ?? userFlags | (key ? flag.hasKey : 0);
    head.writeUInt32BE(deviation.count ?? count, 33);
    return Buffer.concat([head, key ?? Buffer.alloc(0), deviation.rest ?? Buffer.alloc(0)]);
  };

  return {
    keys,
    /** Makes a key for the options in an answer of `register/options`. */
    create(ceremony: unknown, deviation: Deviation = {}) {
      const rpId = textAt(ceremony, 'options.rp.id');
      const { privateKey, publicKey } = newKeyPair(algorithm);
      const key: AuthenticatorKey = {
        id: deviation.id ?? randomBytes(32),
        privateKey,
        algorithm,
        userHandle: textAt(ceremony, 'options.user.id'),
        rpId,
        count: 0,
      };
      const idLength = Buffer.alloc(2);
      idLength.writeUInt16BE(key.id.length);
      const cose = encodeCbor(coseKeyOf(publicKey, algorithm, deviation.alg));
      const attested = Buffer.concat([Buffer.alloc(16), idLength, key.id, cose]);
      const client = clientDataOf('webauthn.create', textAt(ceremony, 'options.challenge'), deviation);
      const [format, statement] = deviation.attestation ?? ['none', new Map()];
      const attestation = encodeCbor(
        new Map<string, CborValue>([
          ['fmt', format],
          ['attStmt', statement],
          ['authData', authenticatorData(rpId, key.count, deviation, attested)],
        ]),
      );
      keys.push(key);
      return {
        challenge_id: textAt(ceremony, 'challenge_id'),
        credential: {
          id: encoded(key.id),
          rawId: encoded(key.id),
          type: 'public-key',
          clientExtensionResults: {},
          ...deviation.credential,
          response: {
            clientDataJSON: encoded(client),
            attestationObject: encoded(attestation),
            transports: ['internal', 'hybrid'],
            ...deviation.response,
          },
        },
      };
    },
    /** Signs in with its last key, or with another one, for an answer of `login/options`. */
    get(ceremony: unknown, deviation: Deviation = {}, key = keys.at(-1)) {
      if (!key) throw new Error('the authenticator has no key');
      const client = clientDataOf('webauthn.get', textAt(ceremony, 'options.challenge'), deviation);
      if (counts) key.count += 1;
      const data = authenticatorData(textAt(ceremony, 'options.rpId'), key.count, deviation);
      const signature = signWith(key, Buffer.concat([data, sha256(client)]));
      const { userHandle = key.userHandle } = deviation;
      return {
        challenge_id: textAt(ceremony, 'challenge_id'),
        credential: {
          id: encoded(key.id),
          rawId: encoded(key.id),
          type: 'public-key',
          authenticatorAttachment: 'platform',
          clientExtensionResults: {},
          ...deviation.credential,
          response: {
            clientDataJSON: encoded(client),
            authenticatorData: encoded(data),
            signature: encoded(deviation.signs?.(signature) ?? signature),
            ...(userHandle !== null && { userHandle }),
            ...deviation.response,
          },
        },
      };
    },
    /** Whether a browser would refuse to make another key, since this authenticator has one of the excluded. */
    isExcluded: (ceremony: unknown): boolean => {
      const excluded = JSON.stringify(at(ceremony, 'options.excludeCredentials'));
      return keys.some(({ id }) => excluded.includes(encoded(id)));
    },
  };
}

export type Authenticator = ReturnType<typeof createAuthenticator>;

const signWith = ({ privateKey, algorithm }: AuthenticatorKey, data: Buffer): Buffer =>
  sign(algorithm === 'EdDSA' ? null : 'sha256', data, privateKey);

function newKeyPair(algorithm: Algorithm) {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519');
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

/** The public key in COSE (RFC 9053 §7, RFC 8230 §4). */
function coseKeyOf(publicKey: KeyObject, algorithm: Algorithm, alg?: number): Map<number, CborValue> {
  const { x = '', y = '', n = '', e = '' } = publicKey.export({ format: 'jwk' });
  const bytes = (text: string) => Buffer.from(text, 'base64url');
  if (algorithm === 'ES256')
    return new Map<number, CborValue>([
      [1, 2],
      [3, alg ?? -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ]);
  if (algorithm === 'EdDSA')
    return new Map<number, CborValue>([
      [1, 1],
      [3, alg ?? -8],
      [-1, 6],
      [-2, bytes(x)],
    ]);
  return new Map<number, CborValue>([
    [1, 3],
    [3, alg ?? -257],
    [-1, bytes(n)],
    [-2, bytes(e)],
  ]);
}
