import type { Envelope } from '@recordbus/crypto';

/** The envelopes that a rotation goes from and to. */
export interface Keys {
  readonly current: Envelope;
  readonly former: Envelope;
}

export interface ResealedText {
  readonly text: string;
  /** How many values were sealed anew. */
  readonly encrypted: number;
  /** How many neither key opens. */
  readonly unreadable: number;
}

/** A sealed value wherever it stands (contract §7); none of its characters is escaped in JSON. */
const sealedValue = /enc:1:[A-Za-z0-9_-]{16}:[A-Za-z0-9_-]{22,}/g;

/** Seals every sealed value of a text anew; those that the new key opens already stay, so it can be done again. */
export function resealText(stored: string, { current, former }: Keys): ResealedText {
  let encrypted = 0;
  let unreadable = 0;
  const text = stored.replaceAll(sealedValue, (sealed) => {
    if (current.open(sealed) !== undefined) return sealed;
    const opened = former.open(sealed);
    if (opened === undefined) {
      unreadable += 1;
      return sealed;
    }
    encrypted += 1;
    return current.seal(opened);
  });
  return { text, encrypted, unreadable };
}
