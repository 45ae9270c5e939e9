import { listAt, textAt } from '../../harness/json.ts';
import { firstAdmin } from '../../harness/stack.ts';
import type { Ask } from './survey.ts';

interface Parts {
  readonly ask: Ask;
  readonly admin: string;
}

const password = 'another long enough password';

/** What the operator of a deployment asks: admins, sessions, logs, health, crons and trying things out. */
export async function goThroughHouse({ ask, admin: as }: Parts): Promise<void> {
  for (const open of ['getHealthz', 'getReadyz', 'getHealth', 'getMetrics', 'getOpenapiJson', 'getDocs'])
    await ask(open);
  for (const open of ['getDocsReferenceCss', 'getDocsReferenceJs', 'getXClockEcho']) await ask(open);
  for (const own of ['getInnerMetrics', 'getAdminMe', 'getAdminAdmins', 'getAdminSettings', 'getAdminTheme'])
    await ask(own, { as });
  const page = { page: '1', perPage: '2' };
  await ask('getAdminAudit', { as, query: { ...page, action: 'collections.create' } });
  await ask('getAdminLogs', { as, query: { ...page, principal_type: 'admin', status: '2xx', since: '0' } });

  const { json: made } = await ask('postAdminAdmins', { as, body: { email: 'eve@example.com', password } });
  const id = textAt(made, 'data.id');
  await ask('patchAdminAdminsById', { as, path: { id }, body: { email: 'eva@example.com' } });
  await ask('deleteAdminAdminsById', { as, path: { id } });
  await ask('postAdminLogin', { body: firstAdmin });
  const sessions = listAt((await ask('getAdminSessions', { as })).json, 'data');
  const other = sessions.find(({ current }) => current !== true);
  await ask('deleteAdminSessionsById', { as, path: { id: String(other?.id) } });
  await ask('deleteAdminSessions', { as });

  await ask('postAdminSettingsTestEmail', { as, body: { to: 'ops@example.com' } });
  await ask('postAdminNotificationsTest', { as, body: { to: 'phone', title: 'Hello', body: 'there' } });

  const crons = listAt((await ask('getAdminCrons', { as })).json, 'data');
  const name = String(crons[0]?.name);
  await ask('postAdminCronsByNameRun', { as, path: { name } });
  await ask('getAdminCronsByNameRuns', { as, path: { name }, query: page });
}

/** Webhooks and their deliveries. Gives the ids of one that stays, and of its delivery. */
export async function goThroughWebhooks({ ask, admin: as }: Parts): Promise<{ id: string; deliveryId: string }> {
  const body = { name: 'journey', url: 'http://127.0.0.1:9/', events: ['everything.create'] };
  const make = async () => textAt((await ask('postAdminWebhooks', { as, body })).json, 'data.id');
  await ask('deleteAdminWebhooksById', { as, path: { id: await make() } });
  const id = await make();
  const path = { id };
  await ask('getAdminWebhooks', { as, query: { perPage: '3' } });
  await ask('getAdminWebhooksById', { as, path });
  await ask('patchAdminWebhooksById', { as, path, body: { name: 'renamed' } });
  await ask('postAdminWebhooksByIdRegenerateSecret', { as, path, body: { overlap_seconds: 60 } });
  await ask('getAdminWebhooksByIdStatus', { as, path });
  const deliveryId = textAt((await ask('postAdminWebhooksByIdTest', { as, path })).json, 'data.id');
  await ask('getAdminWebhooksByIdDeliveries', { as, path, query: { event: 'webhook.test' } });
  await ask('getAdminWebhooksByIdDeliveriesByDeliveryId', { as, path: { id, deliveryId } });
  await ask('postAdminWebhooksByIdDeliveriesByDeliveryIdRedeliver', { as, path: { id, deliveryId } });
  await ask('postAdminWebhooksByIdReplay', { as, path, body: { since: 0 } });
  return { id, deliveryId };
}
