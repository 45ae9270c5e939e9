/**
 * A secret as a client wrote it, on its way to what is stored of it. The database driver refuses it, so a writer that
 * forgets `storeSecrets` fails and stores nothing.
 */
export class PlainSecret {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toPostgres(): never {
    throw new Error('a secret must not be stored as it was written');
  }
}
