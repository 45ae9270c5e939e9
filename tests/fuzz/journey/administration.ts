import { gzipSync } from 'node:zlib';
import { eventually } from '../../harness/eventually.ts';
import { listAt, objectAt, textAt } from '../../harness/json.ts';
import { createAuthenticator } from '../../harness/sign-in/authenticator.ts';
import { totpCode } from '../../harness/sign-in/totp.ts';
import { firstAdmin } from '../../harness/stacks/stack.ts';
import { goThroughMoves } from './moves.ts';
import type { Call } from './survey.ts';

interface Parts {
  readonly call: Call;
  readonly admin: string;
}

const password = 'another long enough password';

/** Calls the operations for operators: admins, sessions, logs, health, crons, test mails and notifications. */
export async function goThroughAdministration({ call, admin: as }: Parts): Promise<void> {
  await goThroughMoves({ call, admin: as });
  for (const open of ['getHealthz', 'getReadyz', 'getHealth', 'getMetrics', 'getOpenapiJson', 'getDocs'])
    await call(open);
  // The admin pages, built or not.
  await call('get');
  await call('getInnerPortal');
  await call('getXClockEcho');
  const Authorization = `Basic ${Buffer.from('postmark:secret').toString('base64')}`;
  const mail = { MessageID: '73e6d360-66eb-11e1-8e72-a8904824019b', Subject: 'Hello' };
  await call('postMailInboundByProvider', { path: { provider: 'postmark' }, headers: { Authorization }, body: mail });
  for (const own of [
    'getInnerMetrics',
    'getAdminSchemaTypes',
    'getAdminMe',
    'getAdminAdmins',
    'getAdminSettings',
    'getAdminSettingsGroups',
    'getAdminTheme',
  ])
    await call(own, { as });
  const page = { page: '1', perPage: '2' };
  await call('getAdminAudit', { as, query: { ...page, action: 'collections.create' } });
  await call('getAdminLogs', { as, query: { ...page, principal_type: 'admin', status: '2xx', since: '0' } });

  await call('getAdminLogsSummary', { as, query: { since: '1700000000', until: '1700000100', buckets: '3' } });

  const { json: made } = await call('postAdminAdmins', { as, body: { email: 'eve@example.com', password } });
  const id = textAt(made, 'data.id');
  await call('patchAdminAdminsById', { as, path: { id }, body: { email: 'eva@example.com' } });
  const eve = { email: 'eva@example.com', password };
  const own = textAt((await call('postAdminLogin', { body: eve })).json, 'data.token');
  const proof = { old_password: password };
  const authenticator = createAuthenticator();
  const adding = objectAt((await call('postAdminPasskeysRegisterOptions', { as: own, body: proof })).json, 'data');
  const added = await call('postAdminPasskeysRegisterVerify', { as: own, body: authenticator.create(adding) });
  const passkey = { id: textAt(added.json, 'data.id') };
  const using = objectAt((await call('postAdminPasskeysLoginOptions', { body: {} })).json, 'data');
  await call('postAdminPasskeysLoginVerify', { body: authenticator.get(using) });
  await call('getAdminPasskeys', { as: own });
  await call('patchAdminPasskeysById', { as: own, path: passkey, body: { name: 'Phone' } });
  await call('deleteAdminPasskeysById', { as: own, path: passkey, body: proof });
  const app = textAt((await call('postAdminTotpSetup', { as: own, body: proof })).json, 'data.secret');
  await call('postAdminTotpConfirm', { as: own, body: { code: totpCode(app) } });
  const { json: renewed } = await call('postAdminTotpRecoveryRegenerate', { as: own, body: proof });
  await call('getAdminTotp', { as: own });
  const begun = textAt((await call('postAdminLogin', { body: eve })).json, 'data.mfa_token');
  await call('postAdminLoginMfa', { body: { mfa_token: begun, recovery_code: textAt(renewed, 'data.codes.0') } });
  await call('postAdminTotpDisable', { as: own, body: { code: totpCode(app, 1), ...proof } });
  await call('deleteAdminAdminsById', { as, path: { id } });
  const key = {
    name: 'journey',
    scopes: ['records:*:read', 'files'],
    allowed_cidrs: ['192.0.2.0/24'],
    rate_label: 'slow',
  };
  const { json: keyed } = await call('postAdminKeys', { as, body: key });
  const path = { id: textAt(keyed, 'data.id') };
  await call('getAdminKeys', { as, query: page });
  await call('getAdminKeysById', { as, path });
  await call('patchAdminKeysById', { as, path, body: { expires_at: 4_000_000_000 } });
  await call('deleteAdminKeysById', { as, path });
  const view = { collection: 'everything', name: 'journey', filter: 'id != ""', sort: '-id', columns: ['id'] };
  const saved = { id: textAt((await call('postAdminSavedViews', { as, body: view })).json, 'data.id') };
  await call('getAdminSavedViews', { as, query: { ...page, collection: 'everything' } });
  await call('patchAdminSavedViewsById', { as, path: saved, body: { shared: true } });
  await call('deleteAdminSavedViewsById', { as, path: saved });
  await call('postAdminLogin', { body: firstAdmin });
  const sessions = listAt((await call('getAdminSessions', { as })).json, 'data');
  const other = sessions.find(({ current }) => current !== true);
  await call('deleteAdminSessionsById', { as, path: { id: String(other?.id) } });
  await call('deleteAdminSessions', { as });
  const { json: again } = await call('postAdminLogin', { body: firstAdmin });
  await call('postAdminLogout', { as: textAt(again, 'data.token') });

  await call('postAdminSettingsTestEmail', { as, body: { to: 'ops@example.com' } });
  await call('postAdminNotificationsTest', { as, body: { to: 'phone', title: 'Hello', body: 'there' } });

  const backup = { id: textAt((await call('postAdminBackups', { as, body: {} })).json, 'data.id') };
  await eventually('the backup is complete', async () => {
    const { json } = await call('getAdminBackupsById', { as, path: backup });
    return textAt(json, 'data.state') === 'done';
  });
  await call('getAdminBackups', { as, query: page });
  await call('getAdminBackupsByIdArchive', { as, path: backup });
  await call('deleteAdminBackupsById', { as, path: backup });
  const raw = { type: 'application/gzip', text: gzipSync('no archive') };
  const uploaded = { id: textAt((await call('postAdminBackupsUpload', { as, raw })).json, 'data.id') };
  await eventually('the uploaded archive is checked', async () => {
    const { json } = await call('getAdminBackupsById', { as, path: uploaded });
    return textAt(json, 'data.state') === 'failed';
  });
  await call('deleteAdminBackupsById', { as, path: uploaded });
  await call('getAdminRestores', { as });

  const crons = listAt((await call('getAdminCrons', { as })).json, 'data');
  const name = String(crons.find(({ extension }) => extension === 'clock')?.name);
  await call('postAdminCronsByNameRun', { as, path: { name } });
  await call('getAdminCronsByNameRuns', { as, path: { name }, query: page });
  const asked = await eventually('the cron has asked for a job', async () => {
    const query = { ...page, state: 'pending', extension: 'clock', name: 'clock.later' };
    return listAt((await call('getAdminExtensionJobs', { as, query })).json, 'data')[0];
  });
  const later = { id: String(asked.id) };
  await call('getAdminExtensionJobsById', { as, path: later });
  await call('postAdminExtensionJobsByIdCancel', { as, path: later });
  await call('postAdminExtensionJobsByIdRun', { as, path: later });
}
