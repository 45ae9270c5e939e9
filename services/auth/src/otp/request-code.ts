import { randomInt } from 'node:crypto';
import { findUserByEmail } from '@recordbus/accounts';
import { enqueueMail, findLanguage, isMailConfigured } from '@recordbus/mail';
import type { Collection } from '@recordbus/schema';
import type { AuthParts } from '../auth-parts.ts';
import { runInUnit } from '../auth-unit.ts';
import { requireFeature } from '../features.ts';
import { codesSent, replaceCode } from '../one-time/code-rows.ts';
import { canReceiveMail, mailNotConfigured } from '../verification/verification.ts';

/** auth §5.2 */
const lifetimeSec = 10 * 60;

/** Throws 422 while one-time codes are switched off or mail is not configured. */
export function requireCodes({ settings }: Pick<AuthParts, 'settings'>): void {
  requireFeature(settings, 'auth.otp.enabled');
  if (!isMailConfigured(settings)) throw mailNotConfigured();
}

/**
 * Mails a user a code and a link to sign in (auth §5.1). The work runs after the answer, so neither the answer nor its
 * time reveals whether the user exists. Throws 422 while codes are switched off or mail is not configured.
 */
export function requestCode(parts: AuthParts, collection: Collection, email: string): void {
  requireCodes(parts);
  const { database, guessLimit, hashCode, inBackground, nowSec, settings } = parts;
  inBackground(async () => {
    const user = await findUserByEmail(database.query, collection, email);
    if (!user || !canReceiveMail(user)) return;
    // Requests beyond the limit get the same answer and no mail.
    if (!(await guessLimit.tryReserve(codesSent(collection.id, user.id)))) return;
    const code = randomInt(1_000_000).toString().padStart(6, '0');
    await runInUnit(parts, async ({ query, due }) => {
      const token = await replaceCode(query, {
        collectionId: collection.id,
        accountId: user.id,
        email: user.email,
        codeHash: hashCode(user.id, code),
        nowSec: nowSec(),
        expiresAtSec: nowSec() + lifetimeSec,
      });
      const about = { collectionId: collection.id, recordId: user.id };
      const lang = findLanguage(settings, collection.name, user.record);
      const to = { to: user.email, collection: collection.name, about, lang };
      await enqueueMail(query, { template: 'otp', ...to, token, code, usefulForSec: lifetimeSec });
      due.add('sendMails');
    });
  });
}
