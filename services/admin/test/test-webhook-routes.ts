import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { deliveryJson } from '../src/webhooks/delivery-schema.ts';
import { webhookJson } from '../src/webhooks/webhook-schema.ts';
import { startTestAdmin, type TestAdmin } from './test-admin.ts';

export const path = '/api/v1/admin/webhooks';
export const good = { name: 'CRM', url: 'https://crm.example.com/hook', events: ['posts.*'] };
export const unknownId = '01890000-0000-7000-8000-00000000dead';

/** The webhook routes of an admin service that starts before and stops after the calling suite's tests. */
export function testWebhookRoutes() {
  let admin: TestAdmin;

  before(async () => {
    admin = await startTestAdmin();
  });
  after(() => admin.stop());

  /** Creates a webhook with these members. */
  async function create(body: object = {}) {
    const answer = await admin.call('POST', path, { ...good, ...body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return webhookJson.strict().parse(answer.body.data);
  }

  /** Sends a test event and returns its delivery. */
  async function sendTest(id: string) {
    const answer = await admin.call('POST', `${path}/${id}/test`);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return deliveryJson.strict().parse(answer.body.data);
  }

  /** Ends a delivery as if it had been sent. */
  const endDelivery = (deliveryId: string, status: 'success' | 'dead') =>
    admin.database.query({
      text: `with ended as (delete from system.delivery_queue where delivery_id = $1)
        update system.deliveries set status = $2, attempt = 1, completed_at = now() where id = $1`,
      values: [deliveryId, status],
    });

  return {
    call: (...request: Parameters<TestAdmin['call']>) => admin.call(...request),
    database: () => admin.database,
    create,
    sendTest,
    endDelivery,
  };
}
