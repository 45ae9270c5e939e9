import { randomUUID } from 'node:crypto';
import { eventually } from '../../harness/eventually.ts';
import { at, listAt, objectAt, textAt } from '../../harness/json.ts';
import type { MailServer } from '../../harness/servers/mail-server.ts';
import { type OidcServer, type Person, redirectUri } from '../../harness/servers/oidc-server.ts';
import { createAuthenticator } from '../../harness/sign-in/authenticator.ts';
import { totpCode } from '../../harness/sign-in/totp.ts';
import type { Call } from './survey.ts';

interface Parts {
  readonly call: Call;
  readonly admin: string;
  /** The auth collection. */
  readonly collection: string;
  readonly mails: MailServer;
  readonly provider: OidcServer;
}

const textsAt = (json: unknown, path: string): string[] => (at(json, path) as string[]) ?? [];

const password = 'a long enough password';

/** Calls every operation on accounts, from registration to logout. */
export async function goThroughAccounts({ call, admin, collection, mails, provider }: Parts): Promise<void> {
  const path = { collection };
  const auth = (operation: string, values: Parameters<Call>[1] = {}) =>
    call(operation, { ...values, path: { ...path, ...values.path } });
  const tokenOf = ({ json }: { json: unknown }) => textAt(json, 'data.token');
  const login = async (email: string) => auth('postAuthByCollectionLogin', { body: { email, password } });

  const captcha = (text: string) =>
    call('patchAdminSettings', { as: admin, body: { [`auth.captcha.${collection}`]: text } });
  await captcha('{"provider":"altcha","on":["otp"]}');
  await auth('getAuthByCollectionCaptcha');
  await captcha('');

  const signedUp = await auth('postAuthByCollectionRegister', { body: { email: 'uma@example.com', password } });
  const user = tokenOf(signedUp);
  const id = textAt(signedUp.json, 'data.record.id');
  await call('postAdminImpersonateByCollectionById', { as: admin, path: { collection, id } });
  await call('postAdminEraseByCollectionById', { as: admin, path: { collection, id }, body: { dry_run: true } });
  await login('uma@example.com');
  const sessions = listAt((await auth('getAuthByCollectionSessions', { as: user })).json, 'data');
  const other = String(sessions.find(({ current }) => current !== true)?.id);
  await auth('deleteAuthByCollectionSessionsById', { as: user, path: { id: other } });
  await auth('deleteAuthByCollectionSessions', { as: user });
  const exported = { id: textAt((await auth('getAuthByCollectionExport', { as: user })).json, 'data.id') };
  await eventually('the own data are exported', async () => {
    const { json } = await call('getJobsById', { as: user, path: exported });
    return at(json, 'data.state') === 'done';
  });
  await call('getJobsByIdArchive', { as: user, path: exported });
  const refreshed = tokenOf(await call('postAuthRefresh', { as: user }));

  // Mails arrive in any order. The first one's link, from the registration, is void after the second.
  await mails.mailTo('uma@example.com');
  await auth('postAuthByCollectionRequestVerify', { as: refreshed });
  const { token: proof } = await mails.mailTo('uma@example.com', { count: 2 });
  await auth('postAuthByCollectionVerifyEmail', { body: { token: proof } });
  await auth('postAuthByCollectionRequestVerifyOf', { body: { email: 'uma@example.com' } });
  await auth('getAuthByCollectionOauth2Links', { as: refreshed });
  const newAddress = { email: 'una@example.com', old_password: password };
  await auth('postAuthByCollectionRequestEmailChange', { as: refreshed, body: newAddress });
  const { token: change } = await mails.mailTo('una@example.com');
  await auth('postAuthByCollectionConfirmEmailChange', { body: { token: change } });
  const { token: undo } = await mails.mailTo('uma@example.com', { subject: 'Your address was changed' });
  await auth('postAuthByCollectionUndoEmailChange', { body: { token: undo } });
  // The undo sent one too.
  await mails.mailTo('uma@example.com', { subject: 'Reset your password' });
  await auth('postAuthByCollectionRequestPasswordReset', { body: { email: 'uma@example.com' } });
  const { token: reset } = await mails.mailTo('uma@example.com', { subject: 'Reset your password', count: 2 });
  await auth('postAuthByCollectionConfirmPasswordReset', { body: { token: reset, password } });
  await auth('postAuthByCollectionOtpRequest', { body: { email: 'uma@example.com' } });
  const { code } = await mails.mailTo('uma@example.com', { subject: 'Your sign-in code' });
  const entered = tokenOf(await auth('postAuthByCollectionOtpAuth', { body: { email: 'uma@example.com', code } }));
  const changing = { as: entered, body: { old_password: password, password } };
  const own = tokenOf(await auth('postAuthByCollectionChangePassword', changing));

  const anonymous = tokenOf(await auth('postAuthByCollectionAnonymous', { body: {} }));
  const known = { as: anonymous, body: { email: 'vic@example.com', password } };
  await auth('postAuthByCollectionPromote', known);

  const authenticator = createAuthenticator();
  const adding = objectAt(
    (await auth('postAuthByCollectionPasskeysRegisterOptions', { as: own, body: {} })).json,
    'data',
  );
  const added = await auth('postAuthByCollectionPasskeysRegisterVerify', {
    as: own,
    body: authenticator.create(adding),
  });
  const passkey = { ...path, id: textAt(added.json, 'data.id') };
  const using = objectAt((await auth('postAuthByCollectionPasskeysLoginOptions', { body: {} })).json, 'data');
  await auth('postAuthByCollectionPasskeysLoginVerify', { body: authenticator.get(using) });
  await auth('getAuthByCollectionPasskeys', { as: own });
  await call('patchAuthByCollectionPasskeysById', { as: own, path: passkey, body: { name: 'Phone' } });
  await call('deleteAuthByCollectionPasskeysById', { as: own, path: passkey, body: { old_password: password } });
  const another = objectAt(
    (await auth('postAuthByCollectionPasskeysRegisterOptions', { as: own, body: {} })).json,
    'data',
  );
  const lost = await auth('postAuthByCollectionPasskeysRegisterVerify', {
    as: own,
    body: createAuthenticator().create(another),
  });
  const lostKey = { ...path, id, passkey: textAt(lost.json, 'data.id') };
  await call('deleteAdminUsersByCollectionByIdPasskeysByPasskey', { as: admin, path: lostKey });

  const enrol = async () => {
    const app = textAt((await auth('postAuthByCollectionTotpSetup', { as: own })).json, 'data.secret');
    const confirming = { as: own, body: { code: totpCode(app) } };
    const { json } = await auth('postAuthByCollectionTotpConfirm', confirming);
    return { app, codes: textsAt(json, 'data.codes') };
  };
  const {
    app,
    codes: [recovery_code],
  } = await enrol();
  await auth('getAuthByCollectionTotpRecoveryStatus', { as: own });
  const mfa_token = textAt((await login('uma@example.com')).json, 'data.mfa_token');
  await auth('postAuthByCollectionLoginMfa', { body: { mfa_token, recovery_code } });
  await auth('postAuthByCollectionTotpRecoveryRegenerate', { as: own });
  await auth('postAuthByCollectionTotpDisable', { as: own, body: { code: totpCode(app, 1), old_password: password } });

  await enrol();
  const manage = (operation: string, more: Readonly<Record<string, string>> = {}) =>
    call(operation, { as: admin, path: { ...path, id, ...more } });
  await manage('deleteAdminUsersByCollectionByIdSecondFactor');

  await auth('getAuthByCollectionOauth2Providers');
  const comeFromProvider = async (person: Person) => {
    const query = { provider: 'oidc', redirectUri, state: randomUUID(), use_pkce: '1' };
    const { json } = await auth('getAuthByCollectionOauth2Authorize', { query });
    const arrival = await provider.visit(textAt(json, 'data.authorize_url'), person);
    return auth('postAuthByCollectionOauth2Exchange', { body: { provider: 'oidc', redirectUri, ...arrival } });
  };
  await comeFromProvider({ id: 'wim' });
  const merge = async () => {
    const mergeable = await comeFromProvider({ id: 'vic', email: 'vic@example.com', email_verified: true });
    const merging = { merge_token: textAt(mergeable.json, 'data.merge_token'), password };
    return auth('postAuthByCollectionOauth2MergeConfirm', { body: merging });
  };
  const merged = tokenOf(await merge());
  await auth('deleteAuthByCollectionOauth2ByProviderUnlink', { as: merged, path: { provider: 'oidc' } });
  const vic = textAt((await merge()).json, 'data.record.id');
  await manage('deleteAdminUsersByCollectionByIdLinksByProvider', { id: vic, provider: 'oidc' });
  const link = { as: admin, path: { ...path, id: vic, provider: 'oidc' }, body: { subject: 'vic' } };
  await call('putAdminUsersByCollectionByIdLinksByProvider', link);
  const key = { id: vic, key: 'k'.repeat(100), updated: Math.floor(Date.now() / 1000) };
  await call('putAdminMovedSessionsByCollection', { as: admin, path, body: { keys: [key] } });
  await auth('postAuthByCollectionLogout', { as: merged });

  await login('uma@example.com');
  await call('getAdminUsersByCollection', { as: admin, path, query: { search: 'UMA@', perPage: '2' } });
  await call('getAdminMails', { as: admin, query: { to: 'uma@example.com', perPage: '2' } });
  await auth('postAuthByCollectionRegister', { body: { email: 'busy@example.com', password } });
  const [waiting] = listAt(
    (await call('getAdminMails', { as: admin, query: { to: 'busy@example.com' } })).json,
    'data',
  );
  const mail = { as: admin, path: { id: String(waiting?.id) } };
  await call('getAdminMailsById', mail);
  await call('postAdminMailsByIdSend', mail);
  const [open] = listAt((await manage('getAdminUsersByCollectionById')).json, 'data.sessions');
  await manage('deleteAdminUsersByCollectionByIdSessionsBySession', { session: String(open?.id) });
  await manage('deleteAdminUsersByCollectionByIdSessions');
  await manage('postAdminUsersByCollectionByIdPasswordReset');
  await manage('postAdminUsersByCollectionByIdBlock');
  await manage('postAdminUsersByCollectionByIdUnblock');
}
