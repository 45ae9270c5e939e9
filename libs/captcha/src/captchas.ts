import { type Database, useToken } from '@recordbus/database';
import type { EgressClient } from '@recordbus/egress';
import { AppError, notFound, unavailable } from '@recordbus/errors';
import type { Logger } from '@recordbus/process/logging';
import type { RequestContext } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import type { CaptchaDoor, CaptchaSetting, Settings } from '@recordbus/settings';
import { type AltchaChallenge, createAltcha } from './altcha.ts';
import { verifyAtSite } from './siteverify.ts';
import type { Verdict } from './verdict.ts';

/** What callers must solve before they sign up or in (auth §10). */
export interface Captchas {
  /** Whether the caller must solve a captcha at this door. Admins and service keys need not. */
  asksCaller(collection: Named, door: CaptchaDoor, context: Caller): boolean;
  /**
   * Verifies the caller's answer, if one is asked for, and uses it up for all replicas. Throws 422 `captcha_required`
   * without an answer and `captcha_failed` for a wrong or used one; 503 while the provider cannot be asked, unless the
   * door stays open then.
   */
  demand(collection: Identified, door: CaptchaDoor, answer: string | undefined, context: Caller): Promise<void>;
  /** Returns a new proof-of-work challenge. Throws 404 unless the collection uses them. */
  challenge(collection: Identified): AltchaChallenge;
}

type Named = Pick<Collection, 'name'>;
type Identified = Pick<Collection, 'name' | 'id'>;
type Caller = Pick<RequestContext, 'principal' | 'clientAddress'>;

interface CaptchaDeps {
  readonly settings: Pick<Settings, 'getNamed'>;
  readonly database: Pick<Database, 'query'>;
  readonly client: Pick<EgressClient, 'request'>;
  readonly log: Logger;
  /** The token secret's raw bytes. The challenges' keys are derived from it. */
  readonly secret: Uint8Array;
  readonly nowSec: () => number;
}

/** The longest answer, in characters. Both providers' are shorter. */
const maxAnswerLength = 8192;

/** Creates all collections' captchas. Without the setting, a door costs no statement and no request. */
export function createCaptchas({ settings, database, client, log, secret, nowSec }: CaptchaDeps): Captchas {
  const altcha = createAltcha(secret);
  const settingOf = ({ name }: Named) => settings.getNamed('auth.captcha.<collection>', name);

  const asksCaller: Captchas['asksCaller'] = (collection, door, { principal }) =>
    settingOf(collection)?.on.includes(door) === true && isUnproved(principal);

  async function verify(
    collection: Identified,
    setting: CaptchaSetting,
    answer: string,
    { clientAddress }: Caller,
  ): Promise<Verdict> {
    const { provider, hostnames, verify_url: verifyUrl } = setting;
    if (provider === 'altcha') return altcha.verify(collection.id, answer, nowSec());
    const key = settings.getNamed('auth.captcha.<collection>.secret', collection.name);
    return verifyAtSite(client, { provider, secret: key, answer, clientAddress, hostnames, verifyUrl }, nowSec());
  }

  return {
    asksCaller,
    async demand(collection, door, answer, caller) {
      const setting = settingOf(collection);
      if (!setting || !asksCaller(collection, door, caller)) return;
      if (answer === undefined || answer === '') throw captchaRequired();
      if (answer.length > maxAnswerLength) throw captchaFailed();
      const verdict = await verify(collection, setting, answer, caller);
      if (verdict.outcome === 'away') {
        const isOpen = setting.open.includes(door);
        const facts = { collection: collection.name, provider: setting.provider, door, reason: verdict.reason };
        log.warn(facts, isOpen ? 'captcha not verified, caller let in' : 'captcha not verified, caller refused');
        if (isOpen) return;
        throw unavailable('the captcha could not be verified; try again later');
      }
      if (verdict.outcome === 'refused') throw captchaFailed();
      const token = { id: `captcha:${verdict.id}`, expiresAtSec: verdict.expiresAtSec };
      if (!(await useToken(database.query, token))) throw captchaFailed();
    },
    challenge(collection) {
      if (settingOf(collection)?.provider !== 'altcha') throw notFound('captcha');
      return altcha.challengeFor(collection.id, nowSec());
    },
  };
}

/** Whether nobody has vouched for the caller. An account costs one answer, so its token must not spare all later ones. */
const isUnproved = ({ type }: RequestContext['principal']): boolean => type === 'guest' || type === 'user';

const captchaRequired = () => {
  const message = 'is required: solve one and send it as captcha or X-Captcha';
  return new AppError(422, 'captcha_required', `captcha ${message}`, { details: { captcha: message } });
};

const captchaFailed = () => {
  const message = 'is wrong, used or expired: solve a new one';
  return new AppError(422, 'captcha_failed', `captcha ${message}`, { details: { captcha: message } });
};
