import type { CDPSession, Page } from 'playwright-core';

export interface VirtualAuthenticatorOptions {
  /** Whether its keys carry the account, so that a sign-in need not name one; true by default. */
  readonly isResident?: boolean;
  /** Whether it verifies its user, by a PIN or a fingerprint; true by default. */
  readonly verifies?: boolean;
}

/** One key in an authenticator, as DevTools has it. Bytes are base64. */
export interface VirtualKey {
  readonly credentialId: string;
  readonly isResidentCredential: boolean;
  readonly rpId?: string;
  readonly privateKey: string;
  readonly userHandle?: string;
  readonly signCount: number;
}

export interface Forgery {
  readonly isUnverified?: boolean;
  readonly isAbsent?: boolean;
  readonly isBogus?: boolean;
}

/** A page's authenticator. Its user does nothing until `touches` is called. */
export interface VirtualAuthenticator {
  keys(): Promise<readonly VirtualKey[]>;
  add(key: VirtualKey): Promise<void>;
  /** Whether the user confirms the requests that begin from now on, suggestions too, or ignores them. */
  touches(does: boolean): Promise<void>;
  /**
   * Changes what the authenticator signs: without the flag of a verified or of a present user, or with a bogus signature.
   * Chromium makes no discoverable key where nobody can be verified, and uses none, so the flag is the only way to see it.
   */
  forges(forgery: Forgery): Promise<void>;
  remove(): Promise<void>;
}

/** Gives a page an authenticator, with DevTools' WebAuthn domain. */
export async function addVirtualAuthenticator(
  page: Page,
  { isResident = true, verifies = true }: VirtualAuthenticatorOptions = {},
): Promise<VirtualAuthenticator> {
  const devTools: CDPSession = await page.context().newCDPSession(page);
  await devTools.send('WebAuthn.enable');
  const { authenticatorId } = await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: isResident,
      hasUserVerification: verifies,
      isUserVerified: verifies,
      automaticPresenceSimulation: false,
    },
  });
  return {
    keys: async () => (await devTools.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
    async add(credential) {
      await devTools.send('WebAuthn.addCredential', { authenticatorId, credential });
    },
    async touches(enabled) {
      await devTools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
    },
    async forges({ isUnverified = false, isAbsent = false, isBogus = false }) {
      const bits = { isBadUV: isUnverified, isBadUP: isAbsent, isBogusSignature: isBogus };
      await devTools.send('WebAuthn.setResponseOverrideBits', { authenticatorId, ...bits });
    },
    async remove() {
      await devTools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    },
  };
}
