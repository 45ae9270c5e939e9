/** How a secret is stored: a password as its hash, an encrypted field's value as its ciphertext. */
type SecretKind = 'password' | 'value';

/**
 * A secret as a client wrote it, before it is hashed or encrypted. The database driver refuses it, so a writer that
 * forgets to replace it fails and stores nothing.
 */
export class PlainSecret {
  readonly text: string;
  readonly kind: SecretKind;

  constructor(text: string, kind: SecretKind) {
    this.text = text;
    this.kind = kind;
  }

  toPostgres(): never {
    throw new Error('a secret must not be stored as it was written');
  }
}
